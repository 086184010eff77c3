"""Command lines of other processes -> what they print, one after the other in this process."""

from __future__ import annotations

import io
import json
import os
import select
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.files import file_lock
from codesearch.service.address import FOLDER, LOCK, SOCKET, identity, with_address
from codesearch.service.client import VARIABLES, receive

_WAITING = 64
"""Clients that may stand in line."""
_PATIENCE_S = 2.0
"""How long a client may take to send or to read; others wait meanwhile."""
_TIDY_S = 60.0
_DUMB = ("dumb", "unknown")
_WIDTH = 80
"""What `rich` takes where nothing tells the width."""

Run = Callable[[list[str]], int]


@dataclass(frozen=True, slots=True)
class Request:
    """A command line, and the process that it belongs to.

    Attributes:
        identity: of the client's installation.
        folder: its working directory.
        variables: those of `VARIABLES` that are set.
        columns: width of its terminal; 0 where it has none.
        streams: of stdout and stderr, whether they are terminals, and their encodings.
    """

    identity: Sequence[str]
    folder: str
    arguments: Sequence[str]
    variables: dict[str, str]
    columns: int
    streams: Sequence[tuple[bool, str]]


class _Captured(io.StringIO):
    """Takes text for a stream of a client, and looks like that stream."""

    encoding = ""

    def __init__(self, terminal: bool, encoding: str) -> None:
        super().__init__()
        self._terminal = terminal
        self.encoding = encoding

    def isatty(self) -> bool:
        return self._terminal


@dataclass(frozen=True, slots=True)
class Handlers:
    """What a service does.

    Attributes:
        run: runs a command line that prints to `sys.stdout` and `sys.stderr`; returns its exit code.
        ready: is called when clients can connect.
        passed_on: is told why a command line was left to its client.
        tidy: is called between command lines, and once a minute.
    """

    run: Run
    ready: Callable[[], None]
    passed_on: Callable[[Exception], None]
    tidy: Callable[[], None]


def service_at(home: Path) -> int | None:
    """Return the process that answers for a home; None where there is none that this user may ask."""
    try:
        if not (home / FOLDER / LOCK).exists():
            return None
        with file_lock(home / FOLDER / LOCK) as owner:
            return owner
    except OSError:  # Somebody else's, or a home that is only read.
        return None


def serve(home: Path, handlers: Handlers) -> None:
    """Answer for a home until SIGINT, SIGTERM or SIGHUP, or until its socket is gone.

    Raises:
        ConfigError: a service runs already, or the system has no Unix-domain sockets.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise ConfigError("this system has no Unix-domain sockets, which a service needs: query without one")
    home = home.absolute()
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    os.chdir(home)  # The folder that it was started in may go.
    with file_lock(folder / LOCK) as owner:
        if owner is not None:
            raise ConfigError(
                f"process {owner} answers for {home} already: stop it with `codesearch serve --stop`"
            )
        with _listening(home) as listener, _stop_signals() as stop:
            handlers.ready()
            while True:
                ready, _, _ = select.select([listener, stop], [], [], _TIDY_S)
                if stop in ready or not (folder / SOCKET).exists():
                    return
                if ready:
                    _answer_next(listener, handlers)
                handlers.tidy()


@contextmanager
def _listening(home: Path) -> Iterator[socket.socket]:
    path = home / FOLDER / SOCKET
    path.unlink(missing_ok=True)  # Whoever left it is gone: the lock was free.
    with socket.socket(socket.AF_UNIX) as listener:
        with_address(str(home), listener.bind)
        try:
            path.chmod(0o600)
            listener.listen(_WAITING)
            yield listener
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def _stop_signals() -> Iterator[socket.socket]:
    """Give a socket that can be read once this process is asked to end: a command line at work ends first."""
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    with reader, writer:
        signal.set_wakeup_fd(writer.fileno())
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # As `nohup` and a shell's `&` have it.
                signal.signal(number, lambda *_: None)
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(-1)


def _answer_next(listener: socket.socket, handlers: Handlers) -> None:
    try:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(_PATIENCE_S)
            reply = answer(receive(connection), handlers)
            connection.sendall(json.dumps(reply).encode() + b"\n")
    except OSError:  # The client is gone, or stands still: nobody reads a complaint.
        return


def answer(line: bytes, handlers: Handlers) -> dict[str, Any]:
    """Run the command line of a request; {} leaves it to the client, whose own run says what is wrong."""
    try:
        request = Request(**json.loads(line))
        if list(request.identity) != identity():
            return {}
        stdout, stderr = (_Captured(*stream) for stream in request.streams)
        with _in_place_of(request), redirect_stdout(stdout), redirect_stderr(stderr):
            code = handlers.run(list(request.arguments))
    except Exception as error:  # Whatever it is, it is no reason to end.
        handlers.passed_on(error)
        return {}
    return {"code": code, "stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


@contextmanager
def _in_place_of(request: Request) -> Iterator[None]:
    """Have the client's working directory and environment."""
    here, kept = os.getcwd(), dict(os.environ)
    try:
        os.chdir(request.folder)
        for name in VARIABLES:
            os.environ.pop(name, None)
        os.environ.update(request.variables)
        if not request.variables.get("COLUMNS", "").isdigit() and _takes_width(request):
            os.environ["COLUMNS"] = str(request.columns or _WIDTH)
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)


def _takes_width(request: Request) -> bool:
    """Say whether `rich` would look for a width: of a dumb terminal it assumes one."""
    return request.variables.get("TERM", "").lower() not in _DUMB
