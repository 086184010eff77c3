"""Limits of time and memory for one source file, in the worker process that parses it.

A small file can make a parser take minutes or gigabytes. The system ends the process that goes over a limit, also in
the middle of a parser's C code, and the file is cut into blocks of lines instead (see `parse`). The limits grow with
the size of the file.

Linux has both limits. macOS has no limit of memory. Windows has a limit of time on the clock instead of processor time.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys

try:
    import resource
except ModuleNotFoundError:  # Windows does not have it.
    resource = None  # type: ignore[assignment]

_HAS_TIMER = hasattr(signal, "setitimer")
_SECONDS, _SECONDS_PER_MB = 4.0, 10.0
_BYTES, _BYTES_PER_BYTE = 400_000_000, 250


def limit_file(size: int) -> None:
    """Limit this process from now on to what a file of `size` bytes may take; end the process if it takes more."""
    seconds = _SECONDS + _SECONDS_PER_MB * size / 1e6
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
    else:
        faulthandler.dump_traceback_later(seconds, exit=True, file=open(os.devnull, "w"))
    if resource and sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _data_bytes() + _BYTES + _BYTES_PER_BYTE * size
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard)
        )


def lift_limits() -> None:
    """End the limit of time; the limit of memory stays until the next file."""
    if _HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, 0)
    else:
        faulthandler.cancel_dump_traceback_later()


def leave_no_core() -> None:
    """Write no core file if this process crashes."""
    if resource:
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _data_bytes() -> int:
    """Return how much writable memory this process has."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
