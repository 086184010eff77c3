"""A command line -> the output of a service for it, or None if the service does not answer.

Each command has one connection. The client sends one line of JSON, the `facts` about itself and its command line. It
reads one line, `{"code": .., "stdout": .., "stderr": ..}`, or `{}` if it must run the command itself. Without
Unix-domain sockets, the exchange that `address` describes comes first.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence

from codesearch.service.address import (
    DEADLINE_S,
    HOST,
    facts,
    identity,
    proof,
    read_port,
    socket_path,
    with_address,
)

_CONNECT_S = 0.5
"""Windows tries for two seconds to connect to a port without a listener."""


def ask(home: str, arguments: Sequence[str], stdin: str | None = None) -> tuple[int, str, str] | None:
    """Let the service of a home run a command line; return exit code, stdout and stderr."""
    try:
        has_socket = hasattr(socket, "AF_UNIX") and os.path.exists(socket_path(home))
        with socket.socket(socket.AF_UNIX if has_socket else socket.AF_INET) as connection:
            connection.settimeout(DEADLINE_S)
            token = ""
            if has_socket:
                with_address(home, connection.connect)
                if not is_own_peer(connection):
                    return None
            else:
                token = _connect_to_port(connection, home)
            request = {"identity": identity(), "token": token, **facts(arguments, stdin)}
            connection.sendall(json.dumps(request).encode() + b"\n")
            reply = json.loads(receive(connection))
        return int(reply["code"]), str(reply["stdout"]), str(reply["stderr"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _connect_to_port(connection: socket.socket, home: str) -> str:
    """Connect to the port of a home's service. Return the token when the service has proved that it knows it."""
    port, token = read_port(home)
    connection.settimeout(_CONNECT_S)
    connection.connect((HOST, port))
    line = os.urandom(16).hex().encode() + b"\n"
    connection.sendall(line)
    if receive(connection).strip() != proof(token, line):
        raise ConnectionRefusedError(f"port {port} is not that of a service of {home}")
    connection.settimeout(DEADLINE_S)
    return token


def is_own_peer(connection: socket.socket) -> bool:
    """Say whether a process of this user is at the other end of a socket, if the system can tell."""
    import struct

    if not hasattr(socket, "SO_PEERCRED"):
        return True
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", found)[1] == os.getuid())


def receive(connection: socket.socket) -> bytes:
    """Read a line, or the part of it that arrived before the other side closed."""
    with connection.makefile("rb") as file:
        return file.readline()
