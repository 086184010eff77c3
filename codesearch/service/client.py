"""A command line -> what a service prints for it, or None where it does not answer.

One connection a command: the client sends one line of JSON, the fields of `server.Request`, and reads one line,
`{"code": .., "stdout": .., "stderr": ..}`, or `{}` where the command is to be run by whoever asked.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence

from codesearch.service.address import identity, with_address

VARIABLES = (
    "CODESEARCH_HOME",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "HOME",
    "NO_COLOR",
    "TERM",
    "TTY_COMPATIBLE",
    "XDG_DATA_HOME",
)
"""What `query` and `similar` read of the environment, `rich` included."""
_PATIENCE_S = 5.0
"""A service that is stopped or busy for longer is no help."""


def ask(home: str, arguments: Sequence[str]) -> tuple[int, str, str] | None:
    """Let the service of a home run a command line; return exit code, stdout and stderr."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(_PATIENCE_S)
            with_address(home, connection.connect)
            connection.sendall(json.dumps(_request(arguments)).encode() + b"\n")
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


def _request(arguments: Sequence[str]) -> dict[str, object]:
    return {
        "identity": identity(),
        "folder": os.getcwd(),
        "arguments": list(arguments),
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "columns": _columns(),
        "streams": [(stream.isatty(), stream.encoding) for stream in (sys.stdout, sys.stderr)],
    }


def _columns() -> int:
    """Return the width of the terminal; 0 where there is none."""
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:  # Not a terminal.
            continue
    return 0
