"""What the formats of an export share: which file may be replaced, one new file that replaces it, and the report."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from codesearch.errors import ExportError, IndexCorruptError
from codesearch.files import atomic_writer
from codesearch.store.catalogue import IndexEntry, writer_lock
from codesearch.store.database import storage_errors
from codesearch.store.reader import IndexReader

OnStage = Callable[[str, int, int], None]
"""Called with a stage, and how many bytes or documents of how many are done in it."""
PATIENCE_S = 10.0
"""How long to wait for a writer of the index."""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote."""

    root: str  # The indexed folder.
    documents: int
    files: int  # Source files in the index.
    changed: int  # Files that changed after they were indexed; their documents have no code.
    missing: int  # Files that are gone or cannot be read; their documents have no code.
    file: Path
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Format:
    """A format of an export."""

    name: str
    marks: Mapping[int, bytes]  # What every file of this format has at these positions.
    write: Callable[[IndexReader, BinaryIO, Counter[str]], None]
    """Write an index to an empty file, and count the files without code as "changed" and "missing"."""


def export_index(entry: IndexEntry, file: Path, home: Path, to: Format) -> ExportReport:
    """Write an index, which no other process can change meanwhile, to a new file, which replaces `file` at the end."""
    started, without_code = time.monotonic(), Counter[str]()
    _check_target(file, to)
    with (
        storage_errors(home),
        writer_lock(entry.folder, entry.root, wait_s=PATIENCE_S),
        closing(IndexReader.open(entry.folder)) as index,
    ):
        manifest = index.manifest
        try:
            with atomic_writer(file.resolve(), sync=True) as part:
                to.write(index, part, without_code)
        except OSError as error:
            name = error.filename
            if isinstance(error, FileNotFoundError) and name and Path(name).is_relative_to(index.folder):
                raise IndexCorruptError(Path(name), "missing", manifest.root) from None
            raise ExportError(f"{file} cannot be written: {error.strerror}") from error
    counts = manifest.documents, manifest.source_files, without_code["changed"], without_code["missing"]
    return ExportReport(manifest.root, *counts, file, file.stat().st_size, time.monotonic() - started)


def _check_target(file: Path, to: Format) -> None:
    """Check that a file is new or has this format."""
    if not file.exists():
        return
    if not file.is_file():
        raise ExportError(f"{file} is not a regular file", "name another file")
    with open(file, "rb") as stream:
        start = stream.read(100)
    if not all(start.startswith(mark, at) for at, mark in to.marks.items()):
        raise ExportError(f"{file} is not {to.name}", "name another file")
