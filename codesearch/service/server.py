"""Command lines of other processes -> what they print, many at a time in one process.

An event loop accepts clients; each command line runs in a thread. A thread cannot be stopped: after the deadline the
client is told to do the work itself, and the result is dropped. While `_THREADS` threads are busy, new clients are told
so at once. The loop itself never waits, so the service can always be stopped.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from codesearch.errors import ConfigError
from codesearch.files import file_lock
from codesearch.service.address import (
    DEADLINE_S,
    FOLDER,
    HOST,
    LOCK,
    PORT,
    SOCKET,
    identity,
    proof,
    with_address,
)

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
    """Answer for a home until a signal says to stop, or until its socket or the file with its port is gone.

    Raises:
        ConfigError: a service runs already.
    """
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
        with _listening(home) as address:
            asyncio.run(_Service(handlers, address).run())


def forget_service(home: Path) -> None:
    """Remove what a service left that was killed, so that clients need not try to connect."""
    with file_lock(home / FOLDER / LOCK) as owner:
        if owner is None:
            _unlink_addresses(home / FOLDER)


def _unlink_addresses(folder: Path) -> None:
    for name in (SOCKET, PORT):
        with suppress(OSError):  # Windows lets nobody delete what a client is reading.
            (folder / name).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Address:
    """Where clients connect: a socket in a private folder, or a port for those who know the token.

    Attributes:
        listener: accepts them.
        path: of the socket, or of the file with port and token.
        token: "" where the system lets in only whom the folder lets in.
    """

    listener: socket.socket
    path: Path
    token: str


@contextmanager
def _listening(home: Path) -> Iterator[_Address]:
    folder = home / FOLDER
    _unlink_addresses(folder)  # Whoever left them is gone: the lock was free.
    has_sockets = hasattr(socket, "AF_UNIX")
    with socket.socket(socket.AF_UNIX if has_sockets else socket.AF_INET) as listener:
        try:
            if has_sockets:
                with_address(str(home), listener.bind)
                (folder / SOCKET).chmod(0o600)
                listener.listen(_WAITING)
                yield _Address(listener, folder / SOCKET, "")
            else:
                listener.bind((HOST, 0))
                listener.listen(_WAITING)
                token = secrets.token_hex(16)
                _write_private(folder / PORT, f"{listener.getsockname()[1]} {token}\n")
                yield _Address(listener, folder / PORT, token)
        finally:
            _unlink_addresses(folder)


def _write_private(path: Path, text: str) -> None:
    """Make a file that only its owner can read; on Windows the user's profile is private anyway."""
    with open(path, "x", encoding="ascii", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(text)


def _on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Call `stop` on what ends a process in good order."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        if (
            number is None or signal.getsignal(number) is signal.SIG_IGN
        ):  # As `nohup` and a shell's `&` have it.
            continue
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows.
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))


class _Service:
    """The event loop's side."""

    def __init__(self, handlers: Handlers, address: _Address) -> None:
        self._handlers = handlers
        self._address = address
        self._busy = 0

    async def run(self) -> None:
        stopped = asyncio.Event()
        _on_signals(asyncio.get_running_loop(), stopped.set)
        server = await asyncio.start_server(
            self._serve_client, sock=self._address.listener, limit=_MAX_REQUEST_BYTES
        )
        self._handlers.ready()
        while self._address.path.exists() and not stopped.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), _TIDY_S)
            self._handlers.tidy()
        server.close()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if self._address.token:
                    writer.write(proof(self._address.token, await reader.readline()) + b"\n")
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
            reply = answer(line, self._handlers, self._address.token)
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


def answer(line: bytes, handlers: Handlers, token: str = "") -> dict[str, Any]:
    """Run the command line of a request; {} leaves it to the client, whose own run says what is wrong."""
    try:
        request: dict[str, Any] = json.loads(line)
        if (
            not secrets.compare_digest(request.get("token", ""), token)
            or list(request["identity"]) != identity()
        ):
            return {}
        reply = handlers.run(request)
    except Exception as error:  # Whatever it is, it is no reason to end.
        handlers.passed_on(error)
        return {}
    if reply.code > 1:  # The client fails by itself, and names paths as they were typed.
        return {}
    return {"code": reply.code, "stdout": reply.out, "stderr": reply.err}
