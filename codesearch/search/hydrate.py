"""Ranked doc_ids -> hits that can be shown: rows from the store, code from the source files."""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.index.snapshot import Snapshot
from codesearch.index.source import cut_lines, read_source
from codesearch.search.fusion import Ranked
from codesearch.types import Hit


def hydrate(snapshot: Snapshot, ranked: Sequence[Ranked], context: int = 0) -> list[Hit]:
    """Return the hits of ranked documents, in their order, with `context` lines of the file around each.

    A file that changed after it was indexed gives the code now at the old place, marked stale. Documents of a file
    that is gone are left out.
    """
    stored = snapshot.stored([place.doc_id for place in ranked])
    sources: dict[tuple[str, str], tuple[bytes, bool] | None] = {}
    hits: list[Hit] = []
    for place, (segment, file, row) in zip(ranked, stored, strict=True):
        key = (segment.root, file.path)
        if key not in sources:
            sources[key] = read_source(segment.root, file)
        if (found := sources[key]) is None:
            continue
        source, stale = found
        code = cut_lines(source, row.start_line, row.end_line, start_byte=None if stale else row.start_byte)
        before, after = _around(source, row.start_line, row.end_line, context)
        hits.append(
            Hit(
                rank=len(hits) + 1,
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
                stale=stale,
                before=before,
                after=after,
            )
        )
    return hits


def _around(source: bytes, first: int, last: int, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return up to `count` lines before line `first` and after line `last` of a file."""
    if not count:
        return (), ()
    lines = source.decode("utf-8", "replace").split("\n")
    return tuple(lines[max(0, first - 1 - count) : first - 1]), tuple(lines[last : last + count])
