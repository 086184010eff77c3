"""Command lines of other processes -> their output. One process runs many at the same time.

An event loop accepts clients; each command line runs in a thread. A thread cannot be stopped, so after the deadline
the service replies that the client must run the command itself, and drops the result. It sends the same reply while
`THREADS` threads are busy. The loop itself never waits, so the service can always be stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.files import file_lock, make_folder
from codesearch.service.client import DEADLINE_S, FOLDER, LOCK, SOCKET, distrusted, identity, with_address

_WAITING = 64
"""Clients that may wait to be accepted."""
_PATIENCE_S = 2.0
"""How long a client may take to send its request or to read its reply."""
_MAX_REQUEST_BYTES = 1 << 20
THREADS = 16
_TIDY_S = 60.0


Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class Handlers:
    """Callbacks of a service."""

    # In several threads: `facts` -> stdout, stderr, exit code, and the conversation that follows.
    run: Callable[[dict[str, Any]], tuple[str, str, int, Converse | None]]
    ready: Callable[[], None]  # Called when clients can connect.
    passed_on: Callable[[Exception], None]  # With the reason why a client must run its command line itself.
    tidy: Callable[[], None]  # Called once a minute.


def service_at(home: Path) -> int | None:
    """Return the id of the process that answers for a home; None if there is none that this user may ask."""
    try:
        if not (home / FOLDER / LOCK).exists():
            return None
        with file_lock(home / FOLDER / LOCK) as owner:
            return owner
    except OSError:  # The home belongs to another user, or is read-only.
        return None


def serve(home: Path, handlers: Handlers) -> None:
    """Answer for a home until a signal arrives, or until its socket is gone."""
    home = home.absolute()
    folder = home / FOLDER
    with suppress(FileExistsError):
        make_folder(folder)
    if reason := distrusted(str(home)):
        raise ConfigError(f"{reason}", "choose another home, or make this one your own with chown and chmod")
    os.chdir(home)  # The folder that it was started in may be deleted.
    with file_lock(folder / LOCK) as owner:
        if owner is not None:
            cure = "stop it with `codesearch serve --stop`"
            raise ConfigError(f"process {owner} answers for {home} already", cure)
        with _listening(folder) as listener:
            asyncio.run(_Service(handlers).run(listener, folder / (SOCKET if listener else LOCK)))


@contextmanager
def _listening(folder: Path) -> Iterator[socket.socket | None]:
    """Listen on a socket in a private folder; yield None if the system has no Unix-domain sockets."""
    if not hasattr(socket, "AF_UNIX"):
        yield None
        return
    path = folder / SOCKET
    path.unlink(missing_ok=True)  # The lock was free, so the process that left it is gone.
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            with_address(str(folder.parent), listener.bind)
            path.chmod(0o600)
            listener.listen(_WAITING)
            yield listener
        finally:
            path.unlink(missing_ok=True)


def _on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` and a shell's `&` make a process ignore a signal.
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError):  # On Windows, Ctrl-C interrupts the event loop.
                loop.add_signal_handler(number, stop)


class _Service:
    """The part of the service that runs in the event loop."""

    def __init__(self, handlers: Handlers) -> None:
        self._handlers = handlers
        self._free = threading.Semaphore(THREADS)

    async def run(self, listener: socket.socket | None, path: Path) -> None:
        """Answer the clients of a listener, if there is one, while a path exists."""
        stopped = asyncio.Event()
        _on_signals(asyncio.get_running_loop(), stopped.set)
        if listener:
            server = await asyncio.start_server(self._serve_client, sock=listener, limit=_MAX_REQUEST_BYTES)
        self._handlers.ready()
        while path.exists() and not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), _TIDY_S)
            self._handlers.tidy()
        if listener:
            server.close()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                line = await reader.readline()
            reply = await self._answer(line)
            converse = reply.pop("converse", None)
            writer.write(json.dumps(reply).encode() + b"\n")
            async with asyncio.timeout(_PATIENCE_S):
                await writer.drain()
            if converse:
                await converse(reader, writer)
        except* (OSError, ValueError, TimeoutError):  # The client is gone, stopped sending, or sent too much.
            pass
        finally:
            writer.close()

    async def _answer(self, line: bytes) -> dict[str, Any]:
        """Run a request in a thread; reply {} if the client must run it itself and report the error."""
        if not self._free.acquire(blocking=False):
            return {}
        reply: Future[dict[str, Any]] = Future()
        reply.set_running_or_notify_cancel()

        def work() -> None:
            result = answer(line, self._handlers)
            self._free.release()
            reply.set_result(result)

        threading.Thread(target=work, daemon=True).start()  # A daemon does not delay the end of the process.
        try:
            async with asyncio.timeout(DEADLINE_S):
                return await asyncio.wrap_future(reply)
        except TimeoutError:
            self._handlers.passed_on(TimeoutError(f"a request took over {DEADLINE_S:g} s"))
            return {}


def answer(line: bytes, handlers: Handlers) -> dict[str, Any]:
    """Return the reply to a request, with its conversation if one follows; {} if the client must run it itself."""
    try:
        request: dict[str, Any] = json.loads(line)
        if list(request["identity"]) != identity():
            return {}
        out, err, code, converse = handlers.run(request)
    except Exception as error:  # No error of one request may end the service.
        handlers.passed_on(error)
        return {}
    if code > 1:  # The client runs the command itself, so its message has paths as they were typed.
        return {}
    return {"code": code, "stdout": out, "stderr": err, **({"converse": converse} if converse else {})}
