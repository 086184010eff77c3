"""Ranked doc_ids -> hits with all their fields: rows from the store, code from the source files."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from codesearch.index.snapshot import Snapshot, Stored
from codesearch.index.source import cut_lines, read_source
from codesearch.search.fusion import Ranked
from codesearch.types import MAX_COPIES, Hit

_Source = tuple[bytes, bool]
"""The bytes of a file, and whether they differ from the indexed ones."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The code of a document and the lines around it; `stale` says that its file changed after it was indexed."""

    code: str
    stale: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class SourceExcerpts:
    """Cuts the code of documents out of the source files, and reads each file once.

    If a file changed after it was indexed, the code is what is now at the old place. If the index was imported without
    sources and without code, it is empty.
    """

    def __init__(self, context: int = 0) -> None:
        self._context = context
        self._sources: dict[tuple[str, str], _Source | None] = {}

    def excerpt(self, document: Stored) -> Excerpt | None:
        """Return the code of a document with `context` lines around it; None if the file no longer exists."""
        segment, file, row = document
        key = (segment.root, file.path)
        if key not in self._sources:
            self._sources[key] = read_source(segment, file)
        if (found := self._sources[key]) is None:
            return None
        source, stale = found
        code = cut_lines(source, row.start_line, row.end_line, start_byte=None if stale else row.start_byte)
        before, after = _around(source, row.start_line, row.end_line, self._context)
        return Excerpt(code.decode("utf-8", "replace"), stale, before, after)


class Excerpts(Protocol):
    """Where the code of hits comes from."""

    def excerpt(self, document: Stored) -> Excerpt | None:
        """Return the code of a document; None if it is gone."""
        ...


def hydrate(snapshot: Snapshot, ranked: Sequence[Ranked], excerpts: Excerpts | None = None) -> list[Hit]:
    """Return the hits of ranked documents in the same order; by default their code comes from the source files.

    Documents whose code is gone are skipped; a copy takes the place if there is one.
    """
    excerpts = excerpts or SourceExcerpts()
    members = [(place.doc_id, *place.copies[:MAX_COPIES]) for place in ranked]
    stored = iter(snapshot.stored([doc_id for ids in members for doc_id in ids]))
    hits: list[Hit] = []
    for place, ids in zip(ranked, members, strict=True):
        left = deque(islice(stored, len(ids)))
        while left:
            shown = left.popleft()
            if excerpt := excerpts.excerpt(shown):
                copies = tuple(_location(copy, shown[0].root) for copy in left)
                count = len(copies) + len(place.copies) + 1 - len(ids)
                hit = _hit(place, shown, excerpt)
                hits.append(replace(hit, rank=len(hits) + 1, copies=copies, copy_count=count))
                break
    return hits


def _hit(place: Ranked, shown: Stored, excerpt: Excerpt) -> Hit:
    segment, file, row = shown
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
        code=excerpt.code,
        signals=place.signals,
        parts=place.parts,
        stale=excerpt.stale,
        before=excerpt.before,
        after=excerpt.after,
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
