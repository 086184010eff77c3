"""One writer an index: a lock file that the system lets go when its process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codesearch.errors import IndexLockedError


@contextmanager
def writer_lock(index_folder: Path, root: str) -> Iterator[None]:
    """Hold the index for writing.

    Raises:
        IndexLockedError: another process holds it.
    """
    descriptor = os.open(index_folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "ignore")
            raise IndexLockedError(int(owner) if owner.isdigit() else 0, root) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)
