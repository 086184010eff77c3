"""Scratch folders in a home. Those of a process that was killed are deleted by the next one."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from codesearch.files import file_lock

SCRATCH = "scratch"
_LOCK = "lock"
_NEW_S = 60.0
"""A younger folder may belong to a process that has not locked it yet."""


@contextmanager
def scratch_folder(home: Path) -> Iterator[Path]:
    """Yield a new folder on the same file system as the indexes; delete it afterwards.

    Raises:
        OSError: the home cannot be written.
    """
    _delete_abandoned(home)
    folder = home / SCRATCH / os.urandom(8).hex()
    content = folder / "content"
    content.mkdir(parents=True)
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
