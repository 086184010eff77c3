"""The indexes of a home: one folder for each indexed root, and the lock of its writer."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import CodeSearchError, IndexLockedError, IndexStoreError, IndexWriteError
from codesearch.files import ABSENT, COMMITS, OPEN_FILES_STAY, REVISIONS, Stamp, file_lock, stamp_of
from codesearch.store.manifest import MANIFEST, Manifest, manifest_at

INDEXES, LOCK = "indexes", "lock"
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

    @property
    def committed(self) -> Manifest:
        """The manifest; if it cannot be read, `error` is raised."""
        if self.manifest is None:
            raise self.error or IndexStoreError(f"{self.folder}: no index there")
        return self.manifest


def index_folder(home: Path, root: Path) -> Path:
    """Return the folder of a root's index; its name is readable and unique for every absolute path."""
    absolute = root.resolve()
    return home / INDEXES / unique_name(absolute.name, absolute)


def unique_name(name: str, path: Path) -> str:
    """Return a name for a folder in a home, with a digest of an absolute path at its end."""
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{name or 'root'}-{digest}"


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
        return IndexEntry(folder, None, error)


@contextmanager
def writer_lock(index_folder: Path, root: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Lock an index for writing; wait up to `wait_s` seconds for another writer, such as a query that refreshes it."""
    started, path = time.monotonic(), index_folder / LOCK
    while True:
        with ExitStack() as lock:
            try:
                owner = lock.enter_context(file_lock(path))
            except OSError as error:
                raise IndexWriteError(f"{path}: {error.strerror}", "give another --home") from None
            if owner is None:
                yield
                return
        patience_s = max(wait_s, _OWN_WAIT_S) if owner == os.getpid() else wait_s
        if time.monotonic() >= started + patience_s:
            raise IndexLockedError(owner, root)
        time.sleep(_POLL_S)


def remove_index(folder: Path, root: str) -> None:
    """Delete an index; delete the manifest first, so that a partly deleted index is never read."""
    with writer_lock(folder, root, wait_s=_REMOVE_WAIT_S):
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # A waiting writer has made the lock again; Windows deletes a lock only now.
        shutil.rmtree(folder, ignore_errors=OPEN_FILES_STAY)


def remove_unused(home: Path) -> None:
    """Delete the tables of commits, and the revisions with their indexes, that were not used for 30 days."""
    for folder in (*(home / COMMITS).glob("*"), *(home.resolve() / REVISIONS).glob("*/*")):
        with suppress(OSError, IndexLockedError, IndexStoreError):
            if folder.stat().st_mtime < time.time() - _UNUSED_S:
                index = index_folder(home, folder)
                if (index / MANIFEST).exists():
                    remove_index(index, str(folder))
                shutil.rmtree(folder)
