"""Indexes -> rows of roots, files and documents, with one source file in memory at a time.

Ids count from 1, by root, then path, then place in the file. They do not depend on the segments of an index.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from codesearch.index.plan import LiveFile, live_files
from codesearch.index.reader import IndexReader
from codesearch.index.snapshot import inner_folders
from codesearch.index.source import cut_lines, read_source
from codesearch.parsing.identifiers import subtokens
from codesearch.segments.digest import check_digest
from codesearch.segments.reader import SegmentReader
from codesearch.segments.store import DATABASE, DocumentRow
from codesearch.types import GENERATED, STUB, TEST, VENDORED

UNCHANGED, CHANGED, MISSING = "unchanged", "changed", "missing"
"""How a file compares with what was indexed; a "missing" file is gone or cannot be read."""
Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A live file of an index, and the id of its root."""

    root_id: int
    segment: SegmentReader
    live: LiveFile


def check_stores(indexes: Sequence[IndexReader]) -> None:
    """Check every byte of the databases of indexes.

    Raises:
        IndexCorruptError: one was changed.
    """
    for index in indexes:
        for segment, entry in zip(index.segments, index.manifest.segments, strict=True):
            # A writer may have merged and deleted the segment. Open files can still be read.
            with suppress(FileNotFoundError):
                check_digest(segment.folder / DATABASE, entry.files[DATABASE], segment.root)


def exported_files(indexes: Sequence[IndexReader]) -> list[ExportedFile]:
    """List the live files in the order of their ids; files that two roots share belong to the inner root."""
    inner = inner_folders([index.root for index in indexes])
    found: list[ExportedFile] = []
    for root_id, index in enumerate(indexes, start=1):
        of_root = [
            ExportedFile(root_id, segment, live)
            for segment, entry in zip(index.segments, index.manifest.segments, strict=True)
            for live in live_files(entry.number, entry.dead_files, segment.store)
            if not live.record.path.startswith(inner[segment.root])
        ]
        found += sorted(of_root, key=lambda file: file.live.record.path)
    return found


def root_rows(indexes: Sequence[IndexReader]) -> Iterator[Row]:
    """Yield a row for each indexed folder."""
    for root_id, index in enumerate(indexes, start=1):
        yield {
            "id": root_id,
            "path": os.fsencode(index.manifest.root).decode("utf-8", "replace"),
            "indexed_at": index.manifest.created,
            "model": index.manifest.model["name"],
        }


def document_rows(
    files: Sequence[ExportedFile], states: list[str], on_documents: Callable[[int], None]
) -> Iterator[Row]:
    """Yield a row for each document, with its code if the file has not changed since it was indexed.

    Args:
        files: the id of a file is its position, from 1.
        states: receives the state of each file.
        on_documents: called after each file with the number of rows so far.
    """
    doc_id = 0
    for file_id, file in enumerate(files, start=1):
        record = file.live.record
        source, state = _source(file)
        states.append(state)
        for row in file.segment.store.document_rows(record.first_doc, record.doc_count):
            doc_id += 1
            yield {
                "id": doc_id,
                "file_id": file_id,
                "path": record.path,
                "language": record.language,
                "kind": row.kind,
                "name": row.name,
                "qualified_name": row.qualified_name,
                "name_words": " ".join(subtokens(row.qualified_name)),
                "signature": row.signature,
                "docstring": row.docstring,
                "code": _code(source, row),
                "start_line": row.start_line,
                "end_line": row.end_line,
                "start_byte": row.start_byte,
                "end_byte": row.end_byte,
                "is_test": bool(row.flags & TEST),
                "is_generated": bool(row.flags & GENERATED),
                "is_vendored": bool(row.flags & VENDORED),
                "is_stub": bool(row.flags & STUB),
            }
        on_documents(doc_id)


def file_rows(files: Sequence[ExportedFile], states: Sequence[str]) -> Iterator[Row]:
    """Yield a row for each file."""
    for file_id, (file, state) in enumerate(zip(files, states, strict=True), start=1):
        record = file.live.record
        yield {
            "id": file_id,
            "root_id": file.root_id,
            "path": record.path,
            "language": record.language,
            "bytes": record.size,
            "digest": record.digest.hex(),
            "state": state,
            "skipped": record.skipped,
            "warnings": record.warnings,
        }


def _source(file: ExportedFile) -> tuple[bytes | None, str]:
    """Return the bytes of a file if they have not changed since it was indexed, and the state of the file."""
    found = read_source(file.segment, file.live.record)
    if found is None or not found[0] and file.live.record.size:
        return None, MISSING
    source, changed = found
    return (None, CHANGED) if changed else (source, UNCHANGED)


def _code(source: bytes | None, row: DocumentRow) -> str | None:
    if source is None:
        return None
    lines = cut_lines(source, row.start_line, row.end_line, start_byte=row.start_byte)
    return lines.decode("utf-8", "replace")
