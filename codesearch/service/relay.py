"""The messages of an MCP client <-> the service of a home, which holds many sessions in little memory.

A session outlives the service. If that ends, this process starts a server, and sends it what the client said at the
start and what was not answered.
"""

from __future__ import annotations

import json
import os
import select
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from codesearch.processes import start_python
from codesearch.service.client import request

_AT_START = ("initialize", "notifications/initialized")
_MAX_READ = 1 << 16


def relay(home: str, arguments: Sequence[str]) -> int | None:
    """Pass messages on until the client ends; return the exit code, or None if no service takes the session."""
    session = _Session()
    with socket.socket(socket.AF_UNIX) as connection:
        if request(connection, home, arguments) is None:
            return None
        connection.settimeout(None)
        if session.run(connection.fileno(), connection.fileno()):
            return 0
    os.environ["CODESEARCH_NO_SERVICE"] = "1"
    with start_python("codesearch", *arguments) as server:
        assert server.stdin and server.stdout
        session.resume(server.stdin.fileno())
        session.run(server.stdin.fileno(), server.stdout.fileno())
    return server.returncode


class _Session:
    """Passes lines on, and keeps what another server has to know."""

    def __init__(self) -> None:
        self._start: list[bytes] = []
        self._unanswered: dict[str, bytes] = {}
        self._repeated: set[str] = set()  # Ids of requests that the client has an answer to.
        self._rest = b""  # The start of a line of the client.

    def run(self, write_fd: int, read_fd: int) -> bool:
        """Pass lines on until the client or its server ends; return whether it is the client."""
        reply = b""
        while True:
            ready, _, _ = select.select([0, read_fd], [], [])
            if read_fd in ready:
                data = _read(read_fd)
                if not data:
                    return False
                *lines, reply = (reply + data).split(b"\n")
                try:
                    for line in filter(self._is_new, lines):
                        _write(1, line)
                except OSError:
                    return True
            if 0 in ready:
                data = _read(0)
                if not data:
                    return True
                *lines, self._rest = (self._rest + data).split(b"\n")
                for line in lines:
                    self._keep(line)
                    _send(write_fd, line)

    def resume(self, write_fd: int) -> None:
        """Send another server what it has to know."""
        self._repeated = {_id_of(_parsed(line)) for line in self._start} - set(self._unanswered)
        for line in dict.fromkeys((*self._start, *self._unanswered.values())):
            _send(write_fd, line)

    def _keep(self, line: bytes) -> None:
        message = _parsed(line)
        if message.get("method") in _AT_START:
            self._start.append(line)
        if "method" in message and "id" in message:
            self._unanswered[_id_of(message)] = line

    def _is_new(self, line: bytes) -> bool:
        """Say whether the client must get a line; it is no more unanswered."""
        message = _parsed(line)
        if "method" in message or "id" not in message:
            return True
        asked = self._unanswered.pop(_id_of(message), b"")
        if "error" in message and asked in self._start:  # The client goes on with another protocol.
            self._start.remove(asked)
        return _id_of(message) not in self._repeated


def _id_of(message: dict[str, Any]) -> str:
    """Return the id of a message, which may be any value, for comparisons."""
    return json.dumps(message.get("id"))


def _parsed(line: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):  # The server says what is wrong with it.
        if isinstance(message := json.loads(line), dict):
            return message
    return {}


def _read(descriptor: int) -> bytes:
    with suppress(OSError):  # A killed service.
        return os.read(descriptor, _MAX_READ)
    return b""


def _write(descriptor: int, line: bytes) -> None:
    data = line + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _send(descriptor: int, line: bytes) -> None:
    """Send a line to a server; if it has ended, the next read says so."""
    with suppress(OSError):
        _write(descriptor, line)
