"""Ranked doc_ids -> hits with all their fields: rows from the store, code from the source files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from codesearch.index.snapshot import Snapshot, Stored
from codesearch.index.source import cut_lines, read_source
from codesearch.search.fusion import Ranked
from codesearch.types import MAX_COPIES, Hit

_Source = tuple[bytes, bool]
"""The bytes of a file, and whether they differ from the indexed ones."""


def hydrate(snapshot: Snapshot, ranked: Sequence[Ranked], context: int = 0) -> list[Hit]:
    """Return the hits of ranked documents in the same order, with `context` lines of the file around each.

    If a file changed after it was indexed, the hit has the code that is now at the old place and is marked as stale. If
    a file no longer exists, its documents are skipped; a copy takes the place if there is one. If the index was
    imported without sources and without code, the hits have no code.
    """
    members = [(place.doc_id, *place.copies[:MAX_COPIES]) for place in ranked]
    stored = iter(snapshot.stored([doc_id for ids in members for doc_id in ids]))
    sources: dict[tuple[str, str], _Source | None] = {}
    hits: list[Hit] = []
    for place, ids in zip(ranked, members, strict=True):
        left = deque(islice(stored, len(ids)))
        while left:
            segment, file, _ = shown = left.popleft()
            key = (segment.root, file.path)
            if key not in sources:
                sources[key] = read_source(segment, file)
            if source := sources[key]:
                copies = tuple(_location(copy, segment.root) for copy in left)
                count = len(copies) + len(place.copies) + 1 - len(ids)
                hit = _hit(place, shown, source, context)
                hits.append(replace(hit, rank=len(hits) + 1, copies=copies, copy_count=count))
                break
    return hits


def _hit(place: Ranked, shown: Stored, found: _Source, context: int) -> Hit:
    segment, file, row = shown
    source, stale = found
    code = cut_lines(source, row.start_line, row.end_line, start_byte=None if stale else row.start_byte)
    before, after = _around(source, row.start_line, row.end_line, context)
    return Hit(
        rank=0,
        score=place.score,
        root=segment.root,
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
        parts=place.parts,
        stale=stale,
        before=before,
        after=after,
    )


def _location(copy: Stored, root: str) -> str:
    """Return "path:line" of a document, relative to `root` if the document is in it."""
    segment, file, row = copy
    path = file.path if segment.root == root else os.path.join(segment.root, file.path)
    return f"{path}:{row.start_line}"


def _around(source: bytes, first: int, last: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return up to `count` lines before line `first` and after line `last` of a file."""
    if not count:
        return (), ()
    lines = source.decode("utf-8", "replace").split("\n")
    return tuple(lines[max(0, first - 1 - count) : first - 1]), tuple(lines[last : last + count])
