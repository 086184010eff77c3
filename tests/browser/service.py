"""Run the service of the page."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.command import ROOT, RUN, free_port, listens, until


@contextmanager
def running_site(home: Path, **variables: str) -> Iterator[str]:
    """Run the page for a home, with variables of the environment; yield its address."""
    port = free_port()
    arguments = ["serve", "--web", "--no-watch", "--port", str(port), "--home", str(home)]
    command = [sys.executable, "-c", RUN, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as running:
        try:
            until(lambda: listens(port), unless=lambda: running.poll() is not None and "the service ended")
            yield f"http://127.0.0.1:{port}/"
        finally:
            running.terminate()
