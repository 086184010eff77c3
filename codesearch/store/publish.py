"""Commit a manifest, and delete the segments that it no longer names."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from codesearch.errors import IndexNotFoundError, IndexStoreError, IndexWriteError
from codesearch.files import PART, write_atomically
from codesearch.store.database import storage_error
from codesearch.store.manifest import MANIFEST, SEGMENTS, Manifest, manifest_bytes, read_manifest

_PART_S = 3600.0
"""A file that is this old and was not finished belongs to a process that was killed."""


def commit_manifest(index_folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one; a reader sees the old or the new one, never a mixture."""
    write_atomically(index_folder / MANIFEST, manifest_bytes(manifest), sync=True, for_owner=True)


@contextmanager
def writing(index_folder: Path) -> Iterator[None]:
    """Run a block that writes segments; afterwards delete unnamed segments, even after a failure or an interrupt.

    Files that killed processes did not finish are deleted too.
    """
    first = last_number(index_folder) + 1
    kept = "; the last good index is untouched" if (index_folder / MANIFEST).exists() else ""
    try:
        yield
    except Exception as error:
        known = error if isinstance(error, IndexWriteError) else storage_error(error, index_folder)
        if known:
            raise IndexWriteError(f"{known}{kept}") from error
        raise
    finally:
        _drop_unnamed(index_folder, first)
        for part in index_folder.glob(f"*{PART}"):
            with suppress(OSError):  # Another process deleted it.
                if part.stat().st_mtime < time.time() - _PART_S:
                    part.unlink()


def last_number(index_folder: Path) -> int:
    """Return the highest number of all segment folders, including leftover ones, so that no folder is reused."""
    return max((int(path.name) for path in _segments(index_folder)), default=0)


def _drop_unnamed(index_folder: Path, first: int) -> None:
    """Delete segments that the manifest does not name, and folders of older formats.

    If the manifest cannot be read, delete only the segments of this writer, which have numbers from `first` on.
    """
    try:
        named = {Path(segment.folder).name for segment in read_manifest(index_folder).segments}
    except IndexNotFoundError:
        named = set()
    except IndexStoreError:
        named = {path.name for path in _segments(index_folder) if int(path.name) < first}
    else:
        for path in index_folder.glob("generation-*"):
            shutil.rmtree(path, ignore_errors=True)
    for path in _segments(index_folder):
        if path.name not in named:
            shutil.rmtree(path, ignore_errors=True)


def _segments(index_folder: Path) -> list[Path]:
    return [path for path in (index_folder / SEGMENTS).glob("*") if path.name.isdigit()]
