"""A command line -> what a service prints for it, or None where it does not answer.

One connection for each command. The client sends one line of JSON, the `facts` about itself and its command line. It
reads one line, `{"code": .., "stdout": .., "stderr": ..}`, or `{}` where it must run the command itself.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Sequence

from codesearch.home import default_home
from codesearch.service.address import DEADLINE_S, identity, with_address

_VARIABLES = (
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "TERM",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
)
"""What `rich` reads of the environment to choose colours and width."""


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


def facts(arguments: Sequence[str] = ()) -> dict[str, object]:
    """Return what a command needs to know of this process.

    Returns:
        `arguments`; `folder`, the working directory; `home`, the default one of indexes; `user_home`, that `~` stands
        for; `variables` of the environment; `columns` of the terminal, 0 where there is none; and of stdout and
        stderr the `streams`, whether each is a terminal, and its encoding.
    """
    return {
        "arguments": list(arguments),
        "folder": os.getcwd(),
        "home": default_home(),
        "user_home": os.path.expanduser("~"),
        "variables": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
        "columns": _columns(),
        "streams": [(stream.isatty(), stream.encoding) for stream in (sys.stdout, sys.stderr)],
    }


def receive(connection: socket.socket) -> bytes:
    """Read a line, or what came of it before the other side closed."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
        if part.endswith(b"\n"):
            break
    return b"".join(parts)


def _columns() -> int:
    """Return the width of the terminal; 0 where there is none."""
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:  # Not a terminal.
            continue
    return 0
