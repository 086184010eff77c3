"""A command line -> the output of a service for it, or None if the service does not answer.

Each command has one connection. The client sends one line of JSON, the `facts` about itself and its command line. It
reads one line, `{"code": .., "stdout": .., "stderr": ..}`, or `{}` if it must run the command itself.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence

from codesearch.service.address import DEADLINE_S, facts, identity, with_address


def ask(home: str, arguments: Sequence[str], stdin: str | None = None) -> tuple[int, str, str] | None:
    """Let the service of a home run a command line; return exit code, stdout and stderr."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE_S)
            with_address(home, connection.connect)
            if not is_own_peer(connection):
                return None
            request = {"identity": identity(), **facts(arguments, stdin)}
            connection.sendall(json.dumps(request).encode() + b"\n")
            reply = json.loads(receive(connection))
        return int(reply["code"]), str(reply["stdout"]), str(reply["stderr"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


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
