"""The home, which is the folder of all indexes, file locks, atomic writes, and files that only their owner can read.

This module imports almost nothing, because the client of a service starts fast. Only its owner can read a home. The
modes of its folders and files do not depend on the umask.

`atomic_writer` writes a new file in the same folder, `NAME.RANDOM.part`. One rename then replaces the old file. A
reader sees the old content or the new content, never a mixture. If several processes write the same file, the last one
wins. A process that is killed with SIGKILL leaves its `.part` file behind.

`scratch_folder` makes a folder below a home, on the same file system as the indexes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # The module `typing` takes long to import.
if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

REVISIONS, COMMITS, SCRATCH = "revisions", "commits", "scratch"
FOLDERS = frozenset(("indexes", SCRATCH, "service", REVISIONS, COMMITS))
"""What a home contains."""
_MAX_NAME_CHARS = 50
"""Length of the part of the name that a `.part` file repeats. A name has at most 255 bytes, a character up to 4."""
PART = ".part"
"""Suffix of a file that is being written."""
OPEN_FILES_STAY = os.name == "nt"
"""Whether the system refuses to delete or replace a file that a process has open or mapped."""
BUSY_S = 2.0
"""How many seconds to wait for a reader that prevents the replacement of a file."""
_NEW_S = 60.0
"""A younger scratch folder may belong to a process that has not locked it yet."""


def default_home() -> str:
    """Return the folder that holds all indexes: `CODESEARCH_HOME`, or `codesearch` in the user's data folder."""
    if home := os.environ.get("CODESEARCH_HOME"):
        return os.path.expanduser(home)
    local = os.environ.get("LOCALAPPDATA") if os.name == "nt" else None
    named = os.path.expanduser(os.environ.get("XDG_DATA_HOME", ""))
    data = named if os.path.isabs(named) else os.path.expanduser(local or "~/.local/share")
    return os.path.join(data, "codesearch")  # A relative folder would be inside of a repository.


def unique_name(name: str, path: str) -> str:
    """Return a name for a folder in a home, with a digest of an absolute path at its end."""
    import hashlib

    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{name or 'root'}-{digest}"


def make_private(home: str) -> None:
    """Let only the owner enter a home that others could, so that they cannot reach what is in it.

    Nothing happens if the folder has other files too, belongs to another user, or has no permissions.
    """
    if not hasattr(os, "getuid"):  # On Windows, the profile of a user is private.
        return
    with suppress(OSError):
        seen = os.stat(home)
        if seen.st_uid == os.getuid() and seen.st_mode & 0o077 and FOLDERS.issuperset(os.listdir(home)):
            os.chmod(home, 0o700)


def mark_used(folder: str | os.PathLike[str]) -> None:
    """Record that a folder is used, so that it is kept; a home that cannot be written stays as it is."""
    with suppress(OSError):
        os.utime(folder)


def make_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter, and those above it that are missing; it may exist."""
    try:
        folder.mkdir(0o700, exist_ok=True)
    except FileNotFoundError:
        make_folder(folder.parent)
        folder.mkdir(0o700, exist_ok=True)


def private(path: str, flags: int) -> int:
    """Open a file that only its owner can read; this is an `opener` of `open`."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)


def create_private(path: Path) -> None:
    """Create an empty file that only its owner can read, for a library that opens it; it may exist."""
    os.close(private(str(path), os.O_WRONLY | os.O_CREAT))


def expanded(path: Path | str) -> Path:
    """Return a path with `~` replaced; a user that does not exist stays as it is, so the path does not exist either."""
    from pathlib import Path  # Not at the start of a client.

    return Path(os.path.expanduser(path))


@contextmanager
def file_lock(path: Path) -> Iterator[int | None]:
    """Lock a file; yield None, or the id of the process that already holds the lock (0 if it is unknown).

    The system releases the lock when the process ends. Only the first byte of the file is locked. The id and a newline
    follow it, because Windows prevents other processes from reading locked bytes.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if (
            _locked(descriptor) and os.fstat(descriptor).st_nlink
        ):  # The lock of a deleted file protects nothing.
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
    except ModuleNotFoundError:  # Use filelock only without fcntl; it would do the same but imports in 12 ms.
        from filelock import lock_descriptor

        return lock_descriptor(descriptor, blocking=False)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def atomic_writer(path: Path, *, sync: bool = False, for_owner: bool = False) -> Iterator[BinaryIO]:
    """Yield a binary file whose content replaces that of `path` at the end of the block.

    If the block raises an exception, `path` does not change and the new file is removed.
    """
    part = path.with_name(f"{path.name[:_MAX_NAME_CHARS]}.{os.urandom(4).hex()}{PART}")
    try:
        with open(part, "xb", opener=private if for_owner else None) as file:
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
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            os.replace(part, path)
            return
        except PermissionError:
            if not OPEN_FILES_STAY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def write_atomically(path: Path, content: bytes, *, sync: bool = False, for_owner: bool = False) -> None:
    """Replace the content of a file, or create the file."""
    with atomic_writer(path, sync=sync, for_owner=for_owner) as file:
        file.write(content)


@contextmanager
def scratch_folder(home: Path) -> Iterator[Path]:
    """Yield a new folder and delete it afterwards; delete those of killed processes first."""
    import shutil  # Only here: it would make each start slower.

    for other in (home / SCRATCH).glob("*"):
        abandoned = False
        with suppress(OSError):
            is_ours = (other / "lock").is_file() and (other / "content").is_dir()
            if is_ours and time.time() - other.stat().st_mtime > _NEW_S:
                with file_lock(other / "lock") as owner:
                    abandoned = owner is None
        if abandoned:
            shutil.rmtree(other, ignore_errors=True)
    folder = home / SCRATCH / os.urandom(8).hex()
    content = folder / "content"
    make_folder(content)
    try:
        with file_lock(folder / "lock"):
            yield content
    finally:
        shutil.rmtree(folder, ignore_errors=True)


Stamp = tuple[int, int, int, int, int]
"""Size in bytes, mtime_ns, ctime_ns, inode and mode of a path. Each fits into an int64."""
ABSENT: Stamp = (-1, -1, -1, -1, -1)
"""The stamp of a path that does not exist or may not be seen."""
RACY_NS = 2_000_000_000
"""A file that changed within this time before it was read may change again without a new stamp."""
_MOST = 2**63 - 1


def stamp_of(path: str) -> Stamp:
    """Return the stamp of a path, or of what a link leads to."""
    try:
        return stamp(os.stat(path))
    except OSError:
        return ABSENT


def stamp(seen: os.stat_result) -> Stamp:
    """Return the stamp of a path with this status."""
    mtime_ns = min(seen.st_mtime_ns, _MOST)  # The year may be 2400.
    return seen.st_size, mtime_ns, seen.st_ctime_ns, seen.st_ino & _MOST, seen.st_mode


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder survive a power cut; do nothing on Windows, which cannot sync a folder."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
