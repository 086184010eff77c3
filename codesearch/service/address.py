"""Where the service of a home listens, and what its clients tell it about themselves. Imports next to nothing.

<home>/service/         only its owner may enter
    socket              exists while a service runs; a killed service leaves it behind
    lock                held while a service runs; holds its process id
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Sequence

import codesearch
from codesearch.home import default_home

FOLDER, SOCKET, LOCK = "service", "socket", "lock"
DEADLINE_S = 5.0
"""After this time the service drops a request, and the client stops waiting and runs it itself."""
_VARIABLES = ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "XDG_CONFIG_HOME")
"""Variables that decide about colours and width, and those that locate the user's settings."""
_MAX_BYTES = 100
"""Systems allow 103 to 107 bytes for the path of a socket."""


def named_home(arguments: Sequence[str]) -> str:
    """Return the home of a command line without parsing all of it: the last `--home`, else the default.

    The result may be wrong; then the client asks another service or none. Any service reads the home from the options.
    """
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
    """Return why the service of a home may not be the user's own, or "".

    Another user could answer in its place if the home, the folder or the socket belongs to somebody else, or if others
    may write there.
    """
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
    """Return the facts that a command needs about the process that started it.

    `stdin` is the text that was read from it. `columns` and `lines` are 0 without a terminal. `streams` are stdout and
    stderr: for each whether it is a terminal, and its encoding.
    """
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
        **dict(zip(("columns", "lines"), _size(), strict=True)),
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
