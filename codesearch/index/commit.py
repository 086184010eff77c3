"""The writer's side of an index folder: the commit of a generation, and the end of older ones."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from codesearch.errors import CodeSearchError, IndexStoreError
from codesearch.files import write_atomically
from codesearch.index.manifest import MANIFEST, Manifest, read_manifest
from codesearch.segments.store import storage_error


def commit_manifest(index_folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one: a reader sees the old or the new, never a mixture."""
    text = json.dumps(asdict(manifest), indent=1, sort_keys=True)
    write_atomically(index_folder / MANIFEST, text.encode(), sync=True)


@contextmanager
def scratch_folder(generation: Path, index_folder: Path) -> Iterator[None]:
    """Make a generation's folder, and remove it again on a failure or interrupt before its commit.

    Raises:
        IndexStoreError: the storage is full or failed.
    """
    try:
        shutil.rmtree(generation, ignore_errors=True)
        generation.mkdir(parents=True)
        yield
    except BaseException as error:
        if not _is_committed(generation, index_folder):
            shutil.rmtree(generation, ignore_errors=True)
        if isinstance(error, CodeSearchError) or not isinstance(error, Exception):
            raise
        if known := storage_error(error, index_folder):
            raise known from error
        raise


def last_number(index_folder: Path) -> int:
    """Return the highest generation that any version left, so that no folder is written twice."""
    numbers = [path.name.rpartition("-")[2] for path in index_folder.glob("generation-*")]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


def drop_old_generations(index_folder: Path, manifest: Manifest) -> None:
    """Delete every generation but the current one."""
    for path in index_folder.glob("generation-*"):
        if path.name != manifest.folder:
            shutil.rmtree(path, ignore_errors=True)


def _is_committed(generation: Path, index_folder: Path) -> bool:
    try:
        return read_manifest(index_folder).folder == generation.name
    except IndexStoreError:
        return False
