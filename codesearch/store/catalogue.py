"""The indexes of a home: one folder for each indexed root, the lock of its writer, and how far a first index is.

`progress` in the index folder is a line of JSON, {"root": .., "done": .., "total": .., "seconds": ..}, which a process
replaces about once a second: bytes of source, and how long it has worked. It makes the file before it reads the folder,
and deletes it at the end. What is left of a process that was killed says nothing: the lock tells whether one works.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import CodeSearchError, IndexLockedError, IndexStoreError, IndexWriteError
from codesearch.files import (
    ABSENT,
    COMMITS,
    PART,
    REVISIONS,
    Stamp,
    file_lock,
    make_folder,
    stamp_of,
    unique_name,
    write_atomically,
)
from codesearch.store.manifest import MANIFEST, SEGMENTS, Manifest, manifest_at

INDEXES, LOCK, TURN, PROGRESS = "indexes", "lock", "turn", "progress"
COMMITS_FILE = "commits.sqlite"
_FILES = (MANIFEST, "stamps", "checked", PROGRESS, TURN, LOCK)
"""What an index has besides its segments."""
_PROGRESS_S, _LEAST_SHARE = 1.0, 0.03
"""How often progress is written; before so much is done, how long the rest takes is not estimated."""
_POLL_S = 0.05
_UNUSED_S = 30 * 86_400
_REMOVE_WAIT_S = 2.0
"""How long a removal waits for a writer, such as a watcher that indexes a saved file."""
_OWN_WAIT_S = 0.5
"""How long to wait for another thread of this process, such as a watcher, which writes little at a time."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index in a home; if it cannot be read, `manifest` is None and `error` says why."""

    folder: Path
    manifest: Manifest | None
    error: CodeSearchError | None = None
    stamp: Stamp = ABSENT  # Of the manifest, when it was read.

    @property
    def is_missing(self) -> bool:
        """Say whether there is no index; `folder` is then a place that none covers."""
        return self.manifest is None and self.error is None

    @property
    def root(self) -> str:
        """The indexed folder, or the folder of an index that cannot be read."""
        return self.manifest.root if self.manifest else str(self.folder)

    def committed(self) -> Manifest:
        """Return the manifest; if it cannot be read, raise `error`."""
        if self.manifest is None:
            raise self.error or IndexStoreError(f"{self.folder}: no index there")
        return self.manifest


def index_folder(home: Path, root: Path) -> Path:
    """Return the folder of a root's index; its name is readable and unique for every absolute path."""
    absolute = root.resolve()
    return home / INDEXES / unique_name(absolute.name, str(absolute))


def imported_folder(home: Path, name: str) -> Path:
    """Return the folder of an index that was imported without its sources."""
    return home / INDEXES / f"{name}@imported"


def find_folder(home: Path, root: Path, here: Path | None = None) -> Path:
    """Return the folder of the index of a root, or of the imported index with that name."""
    folder = index_folder(home, root)
    imported = imported_folder(home, root.name)
    is_bare = root.parent in (Path(), here)
    return imported if is_bare and not folder.is_dir() and imported.is_dir() else folder


def list_indexes(home: Path) -> list[IndexEntry]:
    """List the indexes of a home in the order of their folders."""
    folders = sorted(path.parent for path in (home / INDEXES).glob(f"*/{MANIFEST}"))
    return [entry for entry in map(read_entry, folders) if entry]


def indexed_roots(home: Path) -> dict[str, int]:
    """Return the roots whose files may change -> mtime_ns of their manifests."""
    return {
        entry.root: entry.stamp[1]
        for entry in list_indexes(home)
        if entry.manifest and entry.manifest.has_sources and not is_revision(home, entry.root)
    }


def is_revision(home: Path, root: str) -> bool:
    """Say whether an indexed folder has the files of a git revision, which nobody changes."""
    return root.startswith(os.path.join(os.path.realpath(home), REVISIONS, ""))


def read_entry(folder: Path) -> IndexEntry | None:
    """Read the index in a folder; return None if nothing was committed."""
    stamp = stamp_of(str(folder / MANIFEST))  # First, so that a later commit is noticed.
    if stamp == ABSENT:
        return None
    try:
        return IndexEntry(folder, manifest_at(folder, stamp), stamp=stamp)
    except IndexStoreError as error:
        return IndexEntry(folder, None, error) if _is_ours(folder) else None


def _is_ours(folder: Path) -> bool:
    """Say whether codesearch wrote what is in a folder: a lock with the id of a process, or a segment."""
    with suppress(OSError):
        if re.match(rb" \d+\n", (folder / LOCK).read_bytes()[:32]):
            return True
    return any((folder / SEGMENTS).glob("[0-9]*/documents.sqlite"))


@contextmanager
def writer_lock(index_folder: Path, root: str, *, wait_s: float = 0.0, makes: bool = False) -> Iterator[None]:
    """Lock an index for writing; wait up to `wait_s` seconds for other writers, such as a query that refreshes it.

    With `makes`, the folder of the index is made, also if another process removes it meanwhile. Those that wait take
    turns: only one of them tries to get the lock, and a writer that has just released it comes after that one.
    """
    started, lock, queue = time.monotonic(), ExitStack(), index_folder / TURN
    with ExitStack() as turn:
        while queue.exists() and _locked(queue, turn) is not None and time.monotonic() < started + wait_s:
            time.sleep(_POLL_S)
        while (owner := _locked(index_folder / LOCK, lock, makes=makes)) is not None:
            patience_s = max(wait_s, _OWN_WAIT_S) if owner == os.getpid() else wait_s
            if time.monotonic() >= started + patience_s:
                raise IndexLockedError(owner, root)
            if not queue.exists():  # This is the first one that waits.
                _locked(queue, turn)
            time.sleep(_POLL_S / 5)
    with lock:
        yield


def _locked(path: Path, lock: ExitStack, *, makes: bool = False) -> int | None:
    """Put the lock of a file on a stack and return None; or return the process that has it, 0 if it is unknown."""
    try:
        if makes:
            make_folder(path.parent)
        with ExitStack() as attempt:
            owner = attempt.enter_context(file_lock(path))
            if owner is None:
                lock.push(attempt.pop_all())
            return owner
    except OSError as error:
        if makes and isinstance(error, FileNotFoundError) and not path.is_symlink():  # It was just removed.
            return 0
        place = path if os.path.lexists(path) else path.parent
        raise IndexWriteError(f"{place}: {error.strerror}", "give another --home") from None


def remove_indexes(roots: Mapping[Path, str]) -> None:
    """Delete the indexes in some folders, given with their roots: all, or none if one cannot be deleted.

    Only what codesearch writes is deleted. The manifest goes first, so that a partly deleted index is never read.
    """
    with ExitStack() as locks:
        for folder, root in roots.items():
            locks.enter_context(writer_lock(folder, root, wait_s=_REMOVE_WAIT_S))
            _check_deletable(folder)
        for folder in roots:
            _delete(folder)
    for folder, root in roots.items():  # A query that waited may have made the lock again.
        with suppress(OSError, IndexStoreError), ExitStack() as lock:
            if os.name != "nt":  # Windows deletes a lock only if nobody has it.
                lock.enter_context(writer_lock(folder, root))
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()


def _check_deletable(folder: Path) -> None:
    for place in (folder.parent, *(Path(path) for path, _, _ in os.walk(folder))):
        if not os.access(place, os.W_OK | os.X_OK):
            raise IndexStoreError(f"{place} cannot be written, so no index was removed", "make it writable")


def _delete(folder: Path) -> None:
    path = folder / MANIFEST
    manifest = path.read_bytes() if path.exists() else b""
    try:
        path.unlink(missing_ok=True)
        for segment in (folder / SEGMENTS).glob("*"):
            if segment.name.isdigit():
                shutil.rmtree(segment)
    except OSError as error:  # It is still known, as a damaged one.
        if manifest:
            write_atomically(path, manifest, for_owner=True)
        raise IndexStoreError(
            f"{error.filename}: {error.strerror}", "make it writable, then remove it again"
        ) from None
    for name in _FILES:
        for file in (folder / name, *folder.glob(f"{name}.*{PART}")):
            with suppress(OSError):  # The lock, on Windows.
                file.unlink(missing_ok=True)
    for place in (folder / SEGMENTS, folder):
        with suppress(OSError):  # It has files of somebody else, or does not exist.
            place.rmdir()


def remove_revisions(home: Path, unused_s: float = 0.0) -> None:
    """Delete the files and indexes of git revisions that were not used for a time; the lock of an index marks them."""
    for folder in (home.resolve() / REVISIONS).glob("*/*"):
        index = index_folder(home, folder)
        if _is_unused(folder, unused_s) and (index / LOCK).exists():
            with suppress(OSError, IndexLockedError, IndexStoreError):
                remove_indexes({index: str(folder)})
                shutil.rmtree(folder)
                folder.parent.rmdir()


def remove_commits(home: Path, unused_s: float = 0.0) -> None:
    """Delete the tables of commits that were not used for a time; their own tables mark them."""
    for file in (home / COMMITS).glob(f"*/{COMMITS_FILE}"):
        if _is_unused(file.parent, unused_s) and _has_commits(file):
            for part in file.parent.glob(f"{COMMITS_FILE}*"):
                part.unlink(missing_ok=True)
            with suppress(OSError):  # It has files of somebody else.
                file.parent.rmdir()


def _has_commits(file: Path) -> bool:
    import sqlite3

    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    except sqlite3.Error:
        return False
    return {"commits", "hits", "state"} <= names or not file.stat().st_size


def _is_unused(folder: Path, seconds: float) -> bool:
    with suppress(OSError):
        return not seconds or folder.stat().st_mtime < time.time() - seconds
    return False


def remove_unused(home: Path) -> None:
    """Delete the tables of commits, and the revisions with their indexes, that were not used for 30 days."""
    remove_commits(home, _UNUSED_S)
    remove_revisions(home, _UNUSED_S)


@dataclass(frozen=True, slots=True)
class Building:
    """A first index that a process makes; `seconds_left` is None if that is not known yet."""

    root: str
    process: int
    percent: int
    seconds_left: int | None

    @property
    def text(self) -> str:
        """Who makes it and how much is done."""
        left = "" if self.seconds_left is None else f", about {self.seconds_left} s left"
        return f"being indexed by process {self.process}: {self.percent}% done{left}"

    @property
    def error(self) -> IndexLockedError:
        """The error of a question that has to wait for its first part."""
        return IndexLockedError(self.process, self.root, f", which has done {self.percent}%")


@contextmanager
def recorded(folder: Path, root: Path) -> Iterator[Callable[[int, int], None]]:
    """Tell other processes that this one makes the first index of a root; yield what takes done and total bytes."""
    started = last = time.monotonic()
    path = folder / PROGRESS

    def write(done: int, total: int) -> None:
        seconds = round(time.monotonic() - started, 1)
        fields = {"root": str(root.resolve()), "done": done, "total": total, "seconds": seconds}
        with suppress(OSError):  # The build tells if the home is full.
            write_atomically(path, json.dumps(fields).encode(), for_owner=True)

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() > last + _PROGRESS_S:
            last = time.monotonic()
            write(done, total)

    write(0, 0)
    try:
        yield tell
    finally:
        path.unlink(missing_ok=True)


def building_in(folder: Path) -> Building | None:
    """Return what a process does in an index folder, if it makes the first index; None if none does."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        fields = json.loads((folder / PROGRESS).read_bytes())
        done, total, seconds = (float(fields[name]) for name in ("done", "total", "seconds"))
        with file_lock(folder / LOCK) as owner:
            if owner is not None:
                left = round(seconds * (total - done) / done) if done > _LEAST_SHARE * total else None
                return Building(str(fields["root"]), owner, int(100 * done / max(total, 1)), left)
    return None


def building_around(home: Path, path: Path) -> Building | None:
    """Return the innermost first index of a folder around a path that a process makes."""
    resolved = path.resolve()
    folders = (index_folder(home, root) for root in (resolved, *resolved.parents))
    return next(filter(None, map(building_in, folders)), None)


def list_building(home: Path) -> dict[Path, Building]:
    """Return the folders of first indexes that processes make, in order."""
    folders = sorted(path.parent for path in (home / INDEXES).glob(f"*/{PROGRESS}"))
    return {folder: building for folder in folders if (building := building_in(folder))}
