"""Ranked doc_ids -> hits that can be shown: rows from the store, code from the source files."""

from __future__ import annotations

import os
from collections.abc import Sequence

from codesearch.index.reader import IndexReader
from codesearch.search.fusion import Ranked
from codesearch.segments.digest import content_digest
from codesearch.segments.store import DocumentRow, FileRecord
from codesearch.types import Hit

Stored = tuple[FileRecord, DocumentRow]


def stored_documents(indexes: Sequence[IndexReader], places: Sequence[tuple[int, int]]) -> list[Stored]:
    """Read what the stores keep of (index, doc_id) places, in their order, each index in one go."""
    found: dict[tuple[int, int], Stored] = {}
    for number, index in enumerate(indexes):
        doc_ids = [doc_id for of, doc_id in places if of == number]
        found.update(((number, doc_id), entry) for doc_id, entry in index.store.documents(doc_ids).items())
    return [found[place] for place in places]


def hydrate(indexes: Sequence[IndexReader], ranked: Sequence[Ranked], context: int = 0) -> list[Hit]:
    """Return the hits of ranked documents, in their order, with `context` lines of the file around each.

    A file that changed after it was indexed gives the code now at the old place, marked stale; one that is
    gone gives none.
    """
    stored = stored_documents(indexes, [(place.index, place.doc_id) for place in ranked])
    sources: dict[tuple[int, str], tuple[bytes, bool]] = {}
    hits = []
    for rank, (place, (file, row)) in enumerate(zip(ranked, stored, strict=True), start=1):
        number = place.index
        key = (number, file.path)
        if key not in sources:
            sources[key] = _read(indexes[number].manifest.root, file)
        source, stale = sources[key]
        code = _lines(source, row.start_line, row.end_line, start_byte=None if stale else row.start_byte)
        before, after = _around(source, row.start_line, row.end_line, context)
        hits.append(
            Hit(
                rank=rank,
                score=place.score,
                root=indexes[number].manifest.root,
                path=file.path,
                language=file.language,
                kind=row.kind,
                name=row.name,
                qualified_name=row.qualified_name,
                signature=row.signature,
                docstring=row.docstring,
                start_line=row.start_line,
                end_line=row.end_line,
                code=code.decode("utf-8", "replace"),
                signals=place.signals,
                stale=stale,
                before=before,
                after=after,
            )
        )
    return hits


def _read(root: str, file: FileRecord) -> tuple[bytes, bool]:
    """Return a file's bytes and whether they are others than those indexed; an equal time stamp says they are not."""
    try:
        with open(os.path.join(root, file.path), "rb") as opened:
            seen = os.fstat(opened.fileno())
            source = opened.read()
    except OSError:
        return b"", True
    if (seen.st_size, seen.st_mtime_ns) == (file.size, file.mtime_ns):
        return source, False
    return source, content_digest(source) != file.digest


def _lines(source: bytes, first: int, last: int, *, start_byte: int | None) -> bytes:
    """Cut the lines `first` to `last` out of a file; `start_byte`, on the first of them, spares looking for it."""
    if start_byte is None:
        return b"\n".join(source.split(b"\n")[first - 1 : last])
    start = source.rfind(b"\n", 0, start_byte) + 1
    end = start - 1
    for _ in range(first, last + 1):
        end = source.find(b"\n", end + 1)
        if end < 0:
            return source[start:]
    return source[start:end]


def _around(source: bytes, first: int, last: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return up to `count` lines before line `first` and after line `last` of a file."""
    if not count:
        return (), ()
    lines = source.decode("utf-8", "replace").split("\n")
    return tuple(lines[max(0, first - 1 - count) : first - 1]), tuple(lines[last : last + count])
