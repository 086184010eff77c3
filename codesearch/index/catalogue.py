"""The home: a folder that holds one index a root."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import IndexNotFoundError, IndexStoreError
from codesearch.index.commit import writer_lock
from codesearch.index.manifest import MANIFEST, Manifest, read_manifest

INDEXES = "indexes"


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index in a home; `manifest` is None and `error` set when it cannot be read."""

    folder: Path
    manifest: Manifest | None
    error: IndexStoreError | None = None


def index_folder(home: Path, root: Path) -> Path:
    """Name the folder of a root's index: readable, and different for every absolute path."""
    absolute = root.resolve()
    digest = hashlib.sha256(str(absolute).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return home / INDEXES / f"{absolute.name or 'root'}-{digest}"


def list_indexes(home: Path) -> list[IndexEntry]:
    """List the indexes of a home in the order of their folders."""
    entries = []
    for manifest_path in sorted((home / INDEXES).glob(f"*/{MANIFEST}")):
        try:
            entries.append(IndexEntry(manifest_path.parent, read_manifest(manifest_path.parent)))
        except IndexStoreError as error:
            entries.append(IndexEntry(manifest_path.parent, None, error))
    return entries


def choose_indexes(home: Path, *, roots: list[Path], everything: bool, here: Path) -> list[IndexEntry]:
    """Choose what a query searches: the named roots, else the root that holds `here`, else all.

    Raises:
        IndexNotFoundError: nothing is indexed, or not what was named.
        IndexStoreError: a chosen index cannot be read.
    """
    if roots:
        return [_named(home, root) for root in roots]
    entries = list_indexes(home)
    if not entries:
        raise IndexNotFoundError(f"nothing is indexed in {home}: run `codesearch index FOLDER` first")
    if not everything:
        here = here.resolve()
        holding = [e for e in entries if e.manifest and here.is_relative_to(e.manifest.root)]
        if holding:
            return [max(holding, key=lambda e: len(e.manifest.root) if e.manifest else 0)]
    for entry in entries:
        if entry.error:
            raise entry.error
    return entries


def _named(home: Path, root: Path) -> IndexEntry:
    folder = index_folder(home, root)
    if not (folder / MANIFEST).exists():
        raise IndexNotFoundError(f"{root} is not indexed: run `codesearch index {root}` first")
    return IndexEntry(folder, read_manifest(folder))


def remove_index(folder: Path, root: str) -> None:
    """Delete an index: the manifest first, so that a half-deleted one is never read.

    Raises:
        IndexLockedError: it is being written.
    """
    with writer_lock(folder, root):
        (folder / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(folder)
