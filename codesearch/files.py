"""Files that survive a crash: locks, whole writes, and folders synced to disk. Imports next to nothing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(path: Path) -> Iterator[int | None]:
    """Hold a lock file; yield None, or the id of the process that holds it already.

    The system releases the lock when its process ends.
    """
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


def write_atomically(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Replace a file by a complete new one: a reader sees the old content or the new, never a mixture.

    Args:
        path: the file; its folder must exist.
        content: all of it.
        sync: also make the content survive a power cut, before it takes its name.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
