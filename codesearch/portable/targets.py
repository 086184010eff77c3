"""Files that an export writes, and scratch folders in a home."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import ExportError
from codesearch.files import file_lock, make_folder

OnStage = Callable[[str, int, int], None]
"""Called with a stage, and how many bytes or documents of how many are done in it."""
SCRATCH = "scratch"
_LOCK = "lock"
_NEW_S = 60.0
"""A younger folder may belong to a process that has not locked it yet."""


@dataclass(frozen=True, slots=True)
class ExportCounts:
    """What an export wrote.

    Attributes:
        documents: in all indexed folders of the export.
        files: source files in all of them.
        changed: files that changed after they were indexed; their documents have no code.
        missing: files that are gone or cannot be read; their documents have no code.
    """

    documents: int
    files: int
    changed: int
    missing: int


def check_target(path: Path, kind: str, is_one: Callable[[Path], bool], *, force: bool) -> None:
    """Check that a file may be written. An existing file is replaced if it is one of its kind or if `force` is set."""
    if not path.exists():
        return
    if not path.is_file():
        raise ExportError(f"{path} is not a regular file", "name another file")
    if not force and not is_one(path):
        raise ExportError(f"{path} is not {kind}", "name another file, or replace it with --force")


@contextmanager
def scratch_folder(home: Path) -> Iterator[Path]:
    """Yield a new folder on the same file system as the indexes; delete it afterwards.

    Folders of a process that was killed are deleted by the next one.
    """
    _delete_abandoned(home)
    folder = home / SCRATCH / os.urandom(8).hex()
    content = folder / "content"
    make_folder(content)
    try:
        with file_lock(folder / _LOCK):
            yield content
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _delete_abandoned(home: Path) -> None:
    for folder in (home / SCRATCH).glob("*"):
        try:
            if time.time() - folder.stat().st_mtime < _NEW_S:
                continue
            with file_lock(folder / _LOCK) as owner:
                abandoned = owner is None
        except OSError:
            continue
        if abandoned:
            shutil.rmtree(folder, ignore_errors=True)
