"""A command line -> the output of a service for it, or None if none answers. Imports next to nothing before it asks.

<home>/service/         only its owner may enter
    socket              exists while a service runs; a killed service leaves it behind
    lock                held while a service runs; holds its process id

Each command has one connection. The client sends one line of JSON, the `facts` about itself and its command line. It
reads one line, `{"code": .., "stdout": .., "stderr": ..}`, or `{}` if it must run the command itself. After that line,
`codesearch mcp` sends and reads the messages of its session.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence

import codesearch
from codesearch.files import default_home

TYPE_CHECKING = False  # The module `typing` takes long to import.
if TYPE_CHECKING:
    from socket import socket as Socket

FOLDER, SOCKET, LOCK = "service", "socket", "lock"
DEADLINE_S = 5.0
"""After this time the service drops a request, and the client stops waiting and runs it itself."""
_VARIABLES = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "XDG_CONFIG_HOME")
"""Variables that decide about colours and width, and those that locate the user's settings."""
_MAX_BYTES = 100
"""Systems allow 103 to 107 bytes for the path of a socket."""


def named_home(arguments: Sequence[str]) -> str:
    """Guess the home of a command line, which the service then reads: the last `--home`, else the default."""
    home = ""
    for position, argument in enumerate(arguments):
        if argument == "--home":
            home = "".join(arguments[position + 1 : position + 2])
        elif argument.startswith("--home="):
            home = argument.partition("=")[2]
    return os.path.expanduser(home) if home else default_home()


def socket_path(home: str) -> str:
    """Return the path of a home's socket."""
    return os.path.join(home, FOLDER, SOCKET)


def distrusted(home: str) -> str:
    """Return why the service of a home may not be the user's own: others may own or write its files; "" if it is."""
    if not hasattr(os, "getuid"):  # On Windows, the profile of a user is private.
        return ""
    for path, forbidden in ((home, 0o002), (os.path.join(home, FOLDER), 0o077), (socket_path(home), 0)):
        try:
            seen = os.stat(path) if path == home else os.lstat(path)
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"{path}: {error.strerror}"
        if stat.S_ISLNK(seen.st_mode):
            return f"{path} is a link"
        if seen.st_uid != os.getuid():
            return f"{path} belongs to another user"
        if seen.st_mode & forbidden:
            return f"others may write to {path}" if path == home else f"others may enter {path}"
    return ""


def with_address(home: str, use: Callable[[str], object]) -> None:
    """Bind or connect to a home's socket. If its path is too long for the system, do it from inside its folder."""
    path = socket_path(home)
    if len(os.fsencode(path)) <= _MAX_BYTES:
        use(path)
        return
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(path))
        use(SOCKET)
    finally:
        os.fchdir(here)
        os.close(here)


def identity() -> list[str]:
    """Return the texts that identify this installation. Another installation may give another answer."""
    package = os.path.dirname(os.path.realpath(codesearch.__file__))
    return [codesearch.__version__, package, sys.prefix, sys.getfilesystemencoding()]


def facts(arguments: Sequence[str] = (), stdin: str | None = None) -> dict[str, object]:
    """Return the facts that a command needs about the process that started it."""
    return {
        "arguments": list(arguments),
        "stdin": stdin,
        "folder": os.getcwd(),
        "home": default_home(),
        "user_home": os.path.expanduser("~"),
        "variables": {
            name: value
            for name, value in os.environ.items()
            if name in _VARIABLES or name.startswith("CODESEARCH_")
        },
        **dict(zip(("columns", "lines"), _size(), strict=True)),  # 0 without a terminal.
        "streams": [(stream.isatty(), stream.encoding) for stream in (sys.stdout, sys.stderr)],
    }


def _size() -> tuple[int, int]:
    """Return the columns and lines of the terminal; zeros if there is none."""
    for descriptor in (1, 0, 2):
        try:
            size = os.get_terminal_size(descriptor)
        except OSError:  # It is not a terminal.
            continue
        return size.columns, size.lines
    return 0, 0


def ask(home: str, arguments: Sequence[str], stdin: str | None = None) -> tuple[int, str, str] | None:
    """Let the service of a home run a command line; return exit code, stdout and stderr."""
    import socket

    with socket.socket(socket.AF_UNIX) as connection:
        return request(connection, home, arguments, stdin)


def request(
    connection: Socket, home: str, arguments: Sequence[str], stdin: str | None = None
) -> tuple[int, str, str] | None:
    """Do what `ask` does over a socket that stays open; a conversation may follow."""
    import json

    try:
        connection.settimeout(DEADLINE_S)
        with_address(home, connection.connect)
        if not is_own_peer(connection):
            return None
        asked = {"identity": identity(), **facts(arguments, stdin)}
        connection.sendall(json.dumps(asked).encode() + b"\n")
        with connection.makefile("rb") as file:
            reply = json.loads(file.readline())
        return int(reply["code"]), str(reply["stdout"]), str(reply["stderr"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def is_own_peer(connection: Socket) -> bool:
    """Say whether a process of this user is at the other end of a socket, if the system can tell."""
    import socket
    import struct

    if not hasattr(socket, "SO_PEERCRED"):
        return True
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", found)[1] == os.getuid())
