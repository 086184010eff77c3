"""Run the command in a process of its own, with its own home and working directory."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.forks import Forks

ROOT = Path(__file__).parents[1]
# Processes that a shell starts in the background inherit that Ctrl-C is ignored, and so would the commands. It is not
# changed by `preexec_fn`, because the threads of gRPC may break a process between fork and exec.
if (
    signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    and threading.current_thread() is threading.main_thread()
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
TIMEOUT = 300
"""Seconds that a test waits for an event. Only a machine that is very busy needs more than a few."""


def until(is_so, unless=lambda: None, pause=lambda: time.sleep(0.01)):
    """Wait until a condition holds; fail with what `unless` returns, or after `TIMEOUT` seconds."""
    deadline = time.monotonic() + TIMEOUT
    while not is_so():
        if ended := unless():
            raise AssertionError(ended)
        assert time.monotonic() < deadline, "too late"
        pause()


def free_port() -> int:
    """Return a port that no program uses and that the system does not give to a client in the meantime."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port := 10_000 + secrets.randbelow(20_000)))
            return port


def listens(port: int) -> bool:
    """Return whether a program of this machine accepts connections at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


RUN = f"""
import sys
import codesearch.service.client as client
client.DEADLINE_S = {TIMEOUT}
if "serve" in sys.argv:
    from codesearch.engine import indexer
    from codesearch.service import server
    indexer._LEAST_WALK_S = server._PATIENCE_S = {TIMEOUT}
if "--web" in sys.argv:
    from codesearch.web.app import Work
    Work.__init__.__kwdefaults__ = {{"deadline_s": {TIMEOUT}}}
from codesearch.cli.entry import run
run()
"""
"""The command. It and its service wait for each other as long as tests do, because a busy machine is slow."""
SHIP = f"""
import sys
from pathlib import Path
import codesearch.text.bundle as bundle
bundle.SHIPPED = Path(sys.argv.pop(1))
{RUN}
"""
"""The command with another shipped model: the bundle in the first argument."""


@dataclass(frozen=True)
class Command:
    """Runs `codesearch` in `folder`, with all indexes in `home`.

    A call runs in a fork, which is quick; an interpreter of its own is started for other variables of Python and for
    tests of processes.
    """

    forks: ClassVar[Forks] = Forks()
    may_fork: ClassVar[bool] = hasattr(os, "fork")
    folder: Path
    home: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        own = {
            "PYTHONPATH": str(ROOT),
            "CODESEARCH_HOME": str(self.home),
            "TERM": "xterm-256color",
            "CODESEARCH_AUTO_INDEX": "no",  # A test must not index the folders above its own.
            "PAGER": "",
        }
        return {**kept, **own, **self.variables}

    @property
    def can_fork(self) -> bool:
        names = ("PYTHON", "LC_", "LANG")
        return self.may_fork and not any(name.startswith(names) for name in self.variables)

    def with_streams(self, stdin: int, stdout: int, stderr: int, *arguments: object) -> int:
        """Run the command with open files for its streams; return the exit code."""
        if self.can_fork:
            streams = [stdin, stdout, stderr]
            with open(
                self.forks.start([*map(str, arguments)], self.folder, self.environment, streams)
            ) as code:
                return int(code.read())
        return subprocess.run(
            self.line(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            timeout=TIMEOUT,
            check=False,
        ).returncode

    def line(self, *arguments: object, shipped: Path | None = None) -> list[str]:
        start = ["-c", SHIP, str(shipped)] if shipped else ["-c", RUN]
        return [sys.executable, *start, *map(str, arguments)]

    def __call__(self, *arguments, shipped=None, cwd=None, input="", largest_file=None):
        folder = cwd or self.folder
        if self.can_fork:
            return self.forks.run(
                [*map(str, arguments)],
                folder,
                self.environment,
                shipped,
                TIMEOUT,
                given=input,
                largest_file=largest_file,
            )
        assert largest_file is None
        return subprocess.run(
            self.line(*arguments, shipped=shipped),
            cwd=folder,
            env=self.environment,
            input=input,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    def succeeds(self, *arguments: object, **options: Any) -> str:
        """Run the command, which has to end without an error; return its output."""
        done = self(*arguments, **options)
        assert done.returncode == 0, done
        return done.stdout

    def fails(self, *arguments: object, **options: Any) -> str:
        """Run the command, which has to print nothing but an error in one line; return the error."""
        done = self(*arguments, **options)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        return done.stderr

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self.line(*arguments), cwd=self.folder, env=self.environment, **options)
