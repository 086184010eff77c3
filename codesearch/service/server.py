"""Command lines of other processes -> what they print, many at a time in one process.

An event loop accepts clients; each command line runs in a thread. A thread cannot be stopped: after the deadline the
client is told to do the work itself, and the result is dropped. While `_THREADS` threads are busy, new clients are told
so at once. The loop itself never waits, so the service can always be stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from codesearch.errors import ConfigError
from codesearch.files import file_lock
from codesearch.service.address import DEADLINE_S, FOLDER, LOCK, SOCKET, identity, with_address

_WAITING = 64
"""Clients that may wait to be accepted."""
_PATIENCE_S = 2.0
"""How long a client may take to send its request or to read its reply."""
_MAX_REQUEST_BYTES = 1 << 20
_THREADS = 16
_TIDY_S = 60.0


class Reply(Protocol):
    """What a command line printed, and its exit code."""

    @property
    def out(self) -> str: ...  # noqa: D102
    @property
    def err(self) -> str: ...  # noqa: D102
    @property
    def code(self) -> int: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Handlers:
    """What a service does.

    Attributes:
        run: runs the command line of some facts (see `facts`); called in several threads at a time.
        ready: is called when clients can connect.
        passed_on: is called with the reason why a command line was left to its client.
        tidy: is called once a minute.
    """

    run: Callable[[dict[str, Any]], Reply]
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
        with _listening(home) as listener:
            asyncio.run(_Service(handlers, folder / SOCKET).run(listener))


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


class _Service:
    """The event loop's side."""

    def __init__(self, handlers: Handlers, path: Path) -> None:
        self._handlers = handlers
        self._path = path
        self._busy = 0

    async def run(self, listener: socket.socket) -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # As `nohup` and a shell's `&` have it.
                loop.add_signal_handler(number, stopped.set)
        server = await asyncio.start_unix_server(self._serve_client, sock=listener, limit=_MAX_REQUEST_BYTES)
        self._handlers.ready()
        while self._path.exists() and not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), _TIDY_S)
            self._handlers.tidy()
        server.close()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                line = await reader.readline()
            reply = await self._answer(line)
            writer.write(json.dumps(reply).encode() + b"\n")
            async with asyncio.timeout(_PATIENCE_S):
                await writer.drain()
        except (OSError, ValueError, TimeoutError):  # The client is gone, or stands still, or sends too much.
            pass
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        """Run a request in a thread; {} leaves it to the client, whose own run says what is wrong."""
        if self._busy >= _THREADS:
            return {}
        loop = asyncio.get_running_loop()
        done: asyncio.Future[dict[str, Any]] = loop.create_future()

        def finish(reply: dict[str, Any]) -> None:
            self._busy -= 1
            if not done.done():
                done.set_result(reply)

        def work() -> None:
            reply = answer(line, self._handlers)
            with suppress(RuntimeError):  # The loop was closed meanwhile.
                loop.call_soon_threadsafe(finish, reply)

        self._busy += 1
        threading.Thread(target=work, daemon=True).start()  # A daemon does not delay the end of the process.
        try:
            async with asyncio.timeout(DEADLINE_S):
                return await done
        except TimeoutError:
            self._handlers.passed_on(TimeoutError(f"a request took over {DEADLINE_S:g} s"))
            return {}


def answer(line: bytes, handlers: Handlers) -> dict[str, Any]:
    """Run the command line of a request; {} leaves it to the client, whose own run says what is wrong."""
    try:
        request: Mapping[str, Any] = json.loads(line)
        if list(request["identity"]) != identity():
            return {}
        reply = handlers.run(dict(request))
    except Exception as error:  # Whatever it is, it is no reason to end.
        handlers.passed_on(error)
        return {}
    if reply.code > 1:  # The client fails by itself, and names paths as they were typed.
        return {}
    return {"code": reply.code, "stdout": reply.out, "stderr": reply.err}
