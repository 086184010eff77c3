"""A line of an indexed file, or a name -> the definitions there; documents of each kind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.search.request import Place
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.reader import IndexReader
from codesearch.store.segment import SegmentReader
from codesearch.store.source import read_source
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS, Definition


@dataclass(frozen=True, slots=True)
class Example:
    """A definition for which similar ones are searched.

    Attributes:
        definition: the definition; its path is absolute.
        terms: distinct terms of its fields, without the context; the most important ones first.
        vector: float32 [D].
    """

    definition: Definition
    terms: Sequence[str]
    vector: NDArray[np.float32]


def indexed_example(index: IndexReader, place: Place) -> Example | None:
    """Return the innermost definition at a line, with its stored terms and vector.

    None if the index does not list the file, the file changed after it was indexed, or no definition covers the line.
    """
    for path in _paths_in(index, place.path):
        if (indexed := live_file(index, path)) is None:
            continue
        segment, file = indexed
        source = read_source(segment, file)
        found = _innermost(segment, file, place.line)
        if found is None or source is None or source[1]:
            continue
        number, row = found
        # A term that occurs often says more about a definition; the order of terms is the same in every segment.
        stored = sorted(segment.postings.document_terms(number), key=lambda entry: (entry[0], -entry[1]))
        return Example(
            replace(row.of(file), path=str(Path(segment.root, path).resolve())),
            list(dict.fromkeys(term for field, count, term in stored if count and field < len(FIELDS) - 1)),
            segment.vectors.rows[number] * segment.vectors.scales[number],
        )
    return None


def _paths_in(index: IndexReader, path: Path) -> Iterator[str]:
    """Yield what a path may be in an index; one without sources knows its files as "name/path" or "path"."""
    if index.manifest.has_sources:
        whole = path.resolve()
        if whole.is_relative_to(index.root):
            yield whole.relative_to(index.root).as_posix()
    elif not path.exists():
        typed, name = f"/{path.as_posix()}", f"/{index.manifest.root}/"
        for found in re.finditer(f"(?={re.escape(name)})", typed):
            yield typed[found.start() + len(name) :]
        yield path.as_posix()


def count_kinds(index: IndexReader) -> dict[str, int]:
    """Count the live documents of each kind."""
    counts = np.zeros(len(KINDS), dtype=np.int64)
    for segment in index.segments:
        live = np.delete(segment.rows.kinds, segment.dead)
        counts += np.bincount(live, minlength=len(KINDS))
    return {kind: int(count) for kind, count in zip(KINDS, counts, strict=True) if count}


def live_file(index: IndexReader, path: str) -> tuple[SegmentReader, FileRecord] | None:
    """Return the segment and the record of a live file; None if the index has no such file."""
    for segment in index.segments:
        for file_id, file in segment.store.numbered_files([path]):
            if file_id not in segment.dead_files:
                return segment, file
    return None


def _innermost(segment: SegmentReader, file: FileRecord, line: int) -> tuple[int, DocumentRow] | None:
    """Return number and row of the innermost definition around a line of a file."""
    rows = segment.store.document_rows(file.first_doc, file.doc_count)
    place = innermost(rows, line)
    return None if place is None else (file.first_doc + place, rows[place])


def innermost(rows: Sequence[DocumentRow], line: int) -> int | None:
    """Return the position of the innermost definition around a line; None if there is none."""
    place = nearest(rows, line)
    return place if place is not None and rows[place].start_line <= line <= rows[place].end_line else None


def nearest(rows: Sequence[DocumentRow], line: int) -> int | None:
    """Return the position of the innermost definition around a line, else of the next one, else of the last one."""

    def distance(place: int) -> tuple[bool, int, int]:
        row = rows[place]
        is_around = row.start_line <= line <= row.end_line
        return row.end_line < line, 0 if is_around else row.start_line, -row.start_byte

    return min(range(len(rows)), key=distance, default=None)
