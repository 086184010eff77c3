"""Digests of source files and of the files of an index."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import sync_folder

_BYTES = 16

FileEntries = Mapping[str, Mapping[str, Any]]
"""Path below a folder -> `{"bytes": .., "sha256": ..}`."""


def content_digest(source: bytes) -> bytes:
    """Hash a file's bytes."""
    return hashlib.blake2b(source, digest_size=_BYTES).digest()


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Sync every file below a folder to disk and return its size and sha256."""
    described = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with open(path, "r+b") as file:  # Windows syncs only files that are open for writing.
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            described[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": digest}
    for inner in {folder, *(path.parent for path in folder.rglob("*"))}:
        sync_folder(inner)
    return described


def check_sizes(folder: Path, entries: FileEntries, root: str) -> None:
    """Check that every file exists and has its recorded size; this is fast enough for every query."""
    below = os.path.join(folder, "")
    for name, entry in entries.items():
        try:
            size = os.stat(below + name).st_size
        except FileNotFoundError:
            raise IndexCorruptError(folder / name, "missing", root) from None
        if size != entry["bytes"]:
            raise IndexCorruptError(folder / name, f"{size} bytes, expected {entry['bytes']}", root)


def check_digests(folder: Path, entries: FileEntries, root: str) -> None:
    """Check the size and the bytes of every file, as `doctor` does."""
    check_sizes(folder, entries, root)
    for name, entry in entries.items():
        check_digest(folder / name, entry, root)


def check_digest(path: Path, entry: Mapping[str, Any], root: str) -> None:
    """Check one file's bytes."""
    try:
        with open(path, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise  # A writer may just have merged and deleted the segment.
    except OSError as error:
        raise unreadable(path, error, root) from None
    if found != entry["sha256"]:
        raise IndexCorruptError(path, "its bytes were changed", root)
