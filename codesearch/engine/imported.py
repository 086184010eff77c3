"""Portable files -> indexes of a home, or folders of a cache that are searched without an import."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError, IndexCorruptError, IndexStoreError
from codesearch.files import make_folder, sync_folder
from codesearch.portable.pack import is_portable, write_portable
from codesearch.portable.targets import ExportCounts, check_target, scratch_folder
from codesearch.portable.unpack import MAX_BYTES, PortableFile, open_portable
from codesearch.settings import imported_options, index_options
from codesearch.store.catalogue import IndexEntry, imported_folder, index_folder, read_entry, writer_lock
from codesearch.store.database import storage_error
from codesearch.store.digest import check_sizes
from codesearch.store.manifest import SEGMENTS, Manifest, segment_folder
from codesearch.store.publish import commit_manifest, last_number, writing
from codesearch.store.reader import IndexReader
from codesearch.store.untrusted import is_name
from codesearch.text.bundle import SHIPPED, load_bundle, recorded_folder

_CACHE = Path("cache", "portable")
_KEPT = 4
"""This many unpacked files stay in the cache, those used last."""
_PATIENCE_S = 10.0


def import_portable(
    file: Path,
    home: Path,
    *,
    root: Path | None,
    name: str | None,
    model: Path | None,
    max_bytes: int,
    on_progress: Callable[[str, int, int], None],
) -> Manifest:
    """Make a portable file an index of a home; arguments and errors are those of `Engine.import_index`."""
    if root and not root.is_dir():
        raise ConfigError(f"{root}: no such folder", "give the folder of the sources")
    if name is not None and not is_name(name):
        raise ConfigError(f"the name {name!r} is not valid", "use letters, digits and `.`, `_`, `-`")
    with open_portable(file, max_bytes=max_bytes) as portable:
        bundle, made_with = model or SHIPPED, portable.manifest.model
        if load_bundle(bundle).model_id != made_with["id"]:
            raise ConfigError(
                f"{file} was made with model {made_with['name']} ({made_with['id']}), not with that in {bundle}",
                "give the folder of its model with --model",
            )
        place = str(root.resolve()) if root else name or portable.manifest.root
        folder = index_folder(home, root) if root else imported_folder(home, place)
        described = {**made_with, "folder": recorded_folder(bundle)}
        manifest = replace(portable.manifest, root=place, model=described)
        if root:
            options = imported_options(Path(place), manifest.options)
            walk = options.over(index_options(Path(place))).over(WalkConfig())
            manifest = replace(manifest, options=options.given, settings=asdict(walk))
        return _add(portable, manifest, folder, home, on_progress)


def portable_entry(file: Path, home: Path) -> IndexEntry:
    """Return the index in a portable file, which is imported to a cache, not to the indexes of the home."""
    with open_portable(file, max_bytes=MAX_BYTES) as portable:
        folder = home / _CACHE / portable.digest
        if not _is_whole(folder):
            _add(portable, portable.manifest, folder, home)
            unpacked = sorted(folder.parent.iterdir(), key=_used, reverse=True)
            for old in [path for path in unpacked if path != folder][_KEPT - 1 :]:
                shutil.rmtree(old, ignore_errors=True)
        with _storage(home):
            os.utime(folder)  # The cache keeps what was used last.
    return read_entry(folder) or IndexEntry(folder, None)


def _add(
    portable: PortableFile,
    manifest: Manifest,
    folder: Path,
    home: Path,
    on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Manifest:
    """Unpack a portable file to the folder of an index, with a manifest that may name another root."""
    with _storage(home), scratch_folder(home) as scratch:
        portable.unpack(scratch, on_progress=on_progress)
        make_folder(folder)
        with writer_lock(folder, manifest.root, wait_s=_PATIENCE_S):
            return _install(scratch, folder, manifest)


def _install(scratch: Path, folder: Path, manifest: Manifest) -> Manifest:
    """Move unpacked segments to an index and commit them; the manifest is written last."""
    entry = read_entry(folder)
    last = entry.manifest.commit if entry and entry.manifest else 0
    with writing(folder):
        make_folder(folder / SEGMENTS)
        number = last_number(folder)
        segments = []
        for segment in manifest.segments:
            number += 1
            os.rename(scratch / segment.folder, folder / segment_folder(number))
            segments.append(replace(segment, number=number))
        sync_folder(folder / SEGMENTS)
        installed = replace(manifest, segments=segments, commit=max(last, manifest.commit) + 1)
        commit_manifest(folder, installed)
    return installed


def export_portable(
    entry: IndexEntry,
    file: Path,
    home: Path,
    *,
    with_code: bool,
    force: bool,
    on_progress: Callable[[str, int, int], None],
) -> tuple[str, ExportCounts]:
    """Write an index to a portable file; return its root, and what was written.

    No other process can write the index meanwhile.
    """
    check_target(file, "a portable file", is_portable, force=force)
    root = entry.manifest.root if entry.manifest else str(entry.folder)
    with _storage(home), scratch_folder(home) as scratch, writer_lock(entry.folder, root, wait_s=_PATIENCE_S):
        with closing(IndexReader.open(entry.folder)) as index:
            counts = write_portable(index, file, scratch, with_code=with_code, on_progress=on_progress)
            return index.manifest.root, counts


def _is_whole(folder: Path) -> bool:
    """Say whether a folder has a manifest and all files in their recorded sizes."""
    entry = read_entry(folder)
    if entry is None or entry.manifest is None:
        return False
    try:
        for segment in entry.manifest.segments:
            list(check_sizes(folder, segment, entry.root))
    except IndexCorruptError:
        return False
    return True


def _used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


@contextmanager
def _storage(home: Path) -> Iterator[None]:
    """Turn an error of the storage into one line."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, home) or IndexStoreError(f"{home}: {error}") from error
