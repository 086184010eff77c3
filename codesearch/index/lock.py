"""One writer an index, one worker a home: lock files that the system lets go when their process ends."""

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
    with file_lock(index_folder / "lock") as owner:
        if owner is not None:
            raise IndexLockedError(owner, root)
        yield


@contextmanager
def file_lock(path: Path) -> Iterator[int | None]:
    """Hold a lock file; where another process holds it, give that one's id and hold nothing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(descriptor, 20, 0).decode("ascii", "ignore")
            yield int(owner) if owner.isdigit() else 0
        else:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
            yield None
    finally:
        os.close(descriptor)
