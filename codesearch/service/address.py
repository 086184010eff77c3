"""Where the service of a home listens.

<home>/service/         only its owner may enter
    socket              there while a service runs, or where one was killed
    port                in its place where the system has no Unix-domain sockets: port of 127.0.0.1, and a token
    lock                held while a service runs; its process id

Every process of the machine can connect to a port, and a service that was killed leaves its port to others. So both
sides prove that they can read the file: the client sends a random line, the service answers with the digest of that
line under the token, and only then the client sends the token with its request.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

import codesearch
from codesearch.home import default_home

FOLDER, SOCKET, PORT, LOCK = "service", "socket", "port", "lock"
HOST = "127.0.0.1"
DEADLINE_S = 5.0
"""A request that takes longer is left to its client, which also stops waiting then."""
_MAX_BYTES = 100
"""Systems take 103 to 107 for the path of a socket."""


def named_home(arguments: Sequence[str]) -> str:
    """Return the home that a command line means, without parsing it all: the last `--home`, else the default.

    Where it is wrong, another service is asked or none: any service answers for the home that options really name.
    """
    home = ""
    for position, argument in enumerate(arguments):
        if argument == "--home":
            home = "".join(arguments[position + 1 : position + 2])
        elif argument.startswith("--home="):
            home = argument.partition("=")[2]
    return os.path.expanduser(home) if home else default_home()


def socket_path(home: str) -> str:
    """Name the socket of a home."""
    return os.path.join(home, FOLDER, SOCKET)


def port_path(home: str) -> str:
    """Name the file with the port of a home's service."""
    return os.path.join(home, FOLDER, PORT)


def may_be_served(home: str) -> bool:
    """Say whether a service runs for a home, or one was killed."""
    return os.path.exists(socket_path(home)) or os.path.exists(port_path(home))


def read_port(home: str) -> tuple[int, str]:
    """Return the port of a home's service, and its token.

    Raises:
        OSError: there is none.
        ValueError: the file is damaged.
    """
    with open(port_path(home), encoding="ascii") as file:
        port, token = file.read().split()
    return int(port), token


def proof(token: str, line: bytes) -> bytes:
    """Return what only who knows the token can make of a line."""
    import hmac

    return hmac.digest(token.encode(), line.strip(), "sha256").hex().encode()


def with_address(home: str, use: Callable[[str], object]) -> None:
    """Bind or connect to a home's socket: where its path is too long for a system, from inside its folder.

    Raises:
        OSError: `use` cannot, or the folder or the working directory cannot be entered.
    """
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
    """Tell this installation from others: only the same one prints the same."""
    package = os.path.dirname(os.path.realpath(codesearch.__file__))
    return [codesearch.__version__, package, sys.prefix, sys.getfilesystemencoding()]
