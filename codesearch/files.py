"""Locks, and files that are there whole or not at all. Imports next to nothing, so that any module can use it.

`atomic_writer` writes to a new file in the same folder, `NAME.RANDOM.part`, which then replaces the old one in one
step: a reader sees the old content or the new content, never a mixture. Several processes may write the same file; the
last one wins. A process that is killed with SIGKILL leaves its `.part` file behind.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_MAX_NAME_CHARS = 50
"""Characters of the name that a `.part` file repeats: a name may have 255 bytes, and a character up to 4."""
OPEN_FILES_STAY = os.name == "nt"
"""Whether the system refuses to delete and to replace files that a process has open or mapped."""
_BUSY_S = 2.0
"""How long a reader may keep a file from being replaced."""


@contextmanager
def file_lock(path: Path) -> Iterator[int | None]:
    """Hold a lock file; yield None, or the id of the process that holds it already, 0 where it is not known.

    The system releases the lock when its process ends. The file has a byte that is locked, then the id and a newline:
    Windows lets no other process read what is locked.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if _locked(descriptor):
            os.write(descriptor, f" {os.getpid()}\n".encode())
            yield None
        else:
            os.lseek(descriptor, 1, os.SEEK_SET)
            owner, newline, _ = os.read(descriptor, 20).partition(b"\n")
            yield int(owner) if newline and owner.strip().isdigit() else 0
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Lock an open file, unless another process or thread has locked it."""
    try:
        import fcntl
    except ModuleNotFoundError:  # Elsewhere the library would do the same, but takes 12 ms to import.
        from filelock import lock_descriptor

        return lock_descriptor(descriptor, blocking=False)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def atomic_writer(path: Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file whose content replaces that of `path` at the end of the block.

    If the block raises, `path` stays as it was and what was written is removed.

    Args:
        path: the file to write; its folder must exist.
        sync: whether content and name must survive a power cut.

    Raises:
        OSError: the file cannot be written.
    """
    part = path.with_name(f"{path.name[:_MAX_NAME_CHARS]}.{os.urandom(4).hex()}.part")
    try:
        with open(part, "xb") as file:
            yield file
            if sync:
                file.flush()
                os.fsync(file.fileno())
        _replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if sync:
        sync_folder(path.parent)


def _replace(part: Path, path: Path) -> None:
    deadline = time.monotonic() + _BUSY_S
    while True:
        try:
            os.replace(part, path)
            return
        except PermissionError:
            if not OPEN_FILES_STAY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def write_atomically(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Replace the content of a file, or make the file.

    Args:
        path: the file to write; its folder must exist.
        content: all of its bytes.
        sync: whether content and name must survive a power cut.

    Raises:
        OSError: the file cannot be written; the old content stays.
    """
    with atomic_writer(path, sync=sync) as file:
        file.write(content)


def stamp_of(path: str) -> tuple[int, int]:
    """Return size in bytes, 0 for a folder, and mtime_ns; (-1, -1) for what is not there."""
    try:
        seen = os.stat(path)
    except OSError:
        return (-1, -1)
    return (0 if stat.S_ISDIR(seen.st_mode) else seen.st_size, seen.st_mtime_ns)


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder survive a power cut, where the system can sync a folder; Windows cannot."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
