"""What becomes of output that cannot be written. Imports next to nothing."""

from __future__ import annotations

import os
import sys

INTERRUPTED = "interrupted: the last good index is untouched"


def prepare_streams() -> None:
    """Make stdout and stderr take whatever paths and code hold, also where they were closed from outside."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name) or open(os.devnull, "w")  # It is None when it was closed from outside.
        stream.reconfigure(errors="backslashreplace")  # Paths and code may hold what its encoding cannot.
        setattr(sys, name, stream)


def failed_output(error: OSError) -> int:
    """Say what could not be written, unless the reader closed the pipe; return the exit code."""
    # What is left in the buffer has nowhere to go, and must not complain at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return 0
    print(f"error: {error.filename or 'output'}: {error.strerror}", file=sys.stderr)
    return 2
