"""Run the service of the page."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.command import ROOT


@contextmanager
def running_site(home: Path) -> Iterator[str]:
    """Run the page for a home; yield its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    service = ["codesearch", "serve", "--web", "--home", str(home), "--port", str(port)]
    if find_spec("codesearch.web.server") is None:
        service = ["tests.browser.stand_in", str(home), str(port)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", *service]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as running:
        try:
            for _ in range(200):
                with socket.socket() as client:
                    if client.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/"
        finally:
            running.terminate()
