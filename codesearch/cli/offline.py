"""Cut this process off from the network, and record every attempt to use it."""

from __future__ import annotations

import ctypes
import sys

_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_NETWORK_EVENTS = (
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.sendto",
    "urllib.Request",
)


def leave_network() -> bool:
    """Move this process and its children into a network namespace without interfaces, if the kernel allows it.

    An unprivileged process needs a new user namespace for that. Only a single-threaded process may enter one, so call
    this before anything that starts threads.
    """
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


class NetworkWatch:
    """Refuses and records every attempt of Python code to reach a network; lasts as long as the process."""

    def __init__(self) -> None:
        self.attempts: list[str] = []
        sys.addaudithook(self._on_event)

    def _on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in _NETWORK_EVENTS and not _is_local(event, arguments):
            self.attempts.append(event)
            raise ConnectionRefusedError(f"{event} refused: offline check")


def _is_local(event: str, arguments: tuple[object, ...]) -> bool:
    """Say whether an event is about a Unix socket, whose address is a path; worker processes use them."""
    return event in ("socket.connect", "socket.sendto") and isinstance(arguments[-1], str | bytes)
