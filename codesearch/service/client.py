"""A command line -> what a service prints for it, or None where it does not answer.

One connection for each command. The client sends one line of JSON, the `facts` about itself and its command line. It
reads one line, `{"code": .., "stdout": .., "stderr": ..}`, or `{}` where it must run the command itself.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence

from codesearch.service.address import DEADLINE_S, identity, with_address
from codesearch.service.facts import facts


def ask(home: str, arguments: Sequence[str]) -> tuple[int, str, str] | None:
    """Let the service of a home run a command line; return exit code, stdout and stderr."""
    request = {"identity": identity(), **facts(arguments)}
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE_S)
            with_address(home, connection.connect)
            connection.sendall(json.dumps(request).encode() + b"\n")
            reply = json.loads(receive(connection))
        return int(reply["code"]), str(reply["stdout"]), str(reply["stderr"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def receive(connection: socket.socket) -> bytes:
    """Read a line, or what came of it before the other side closed."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
        if part.endswith(b"\n"):
            break
    return b"".join(parts)
