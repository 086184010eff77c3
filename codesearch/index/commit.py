"""The writer's side of an index folder: the commit of a manifest, and the end of what it no longer names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from codesearch.errors import CodeSearchError, IndexStoreError
from codesearch.files import write_atomically
from codesearch.index.manifest import MANIFEST, SEGMENTS, Manifest, read_manifest
from codesearch.segments.store import storage_error


def commit_manifest(index_folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one: a reader sees the old or the new, never a mixture."""
    text = json.dumps(asdict(manifest), indent=1, sort_keys=True)
    write_atomically(index_folder / MANIFEST, text.encode(), sync=True)


@contextmanager
def writing(index_folder: Path) -> Iterator[None]:
    """Write segments; afterwards, also after a failure or interrupt, delete those that no manifest names.

    Raises:
        IndexStoreError: the storage is full or failed; what was committed is untouched.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, CodeSearchError) and (known := storage_error(error, index_folder)):
            raise known from error
        raise
    finally:
        drop_unnamed(index_folder)


def last_number(index_folder: Path) -> int:
    """Return the highest segment that any version left, so that no folder is written twice."""
    numbers = [path.name for path in (index_folder / SEGMENTS).glob("*")]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def drop_unnamed(index_folder: Path) -> None:
    """Delete segments that the manifest does not name, and what older formats left."""
    try:
        named = {Path(segment.folder).name for segment in read_manifest(index_folder).segments}
    except IndexStoreError:
        named = set()
    for path in (index_folder / SEGMENTS).glob("*"):
        if path.name not in named:
            shutil.rmtree(path, ignore_errors=True)
    for path in index_folder.glob("generation-*"):
        shutil.rmtree(path, ignore_errors=True)
