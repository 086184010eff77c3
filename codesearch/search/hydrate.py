"""Ranked doc_ids -> hits that can be shown: rows from the store, code from the source files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from codesearch.index.digest import content_digest
from codesearch.index.reader import IndexReader
from codesearch.index.store import DocumentRow, FileRecord
from codesearch.search.fusion import Ranked
from codesearch.types import Hit

Stored = tuple[FileRecord, DocumentRow]


def stored_documents(indexes: Sequence[IndexReader], places: Sequence[tuple[int, int]]) -> list[Stored]:
    """Read what the stores keep of (index, doc_id) places, in their order, each index in one go."""
    found: dict[tuple[int, int], Stored] = {}
    for number, index in enumerate(indexes):
        doc_ids = [doc_id for of, doc_id in places if of == number]
        found.update(((number, doc_id), entry) for doc_id, entry in index.store.documents(doc_ids).items())
    return [found[place] for place in places]


def hydrate(indexes: Sequence[IndexReader], ranked: Sequence[Ranked]) -> list[Hit]:
    """Fetch what is shown of ranked documents, in their order.

    A file that changed after it was indexed gives the code now at the old place, marked stale; one that is
    gone gives none.
    """
    stored = stored_documents(indexes, [(place.index, place.doc_id) for place in ranked])
    sources: dict[tuple[int, str], tuple[list[bytes], bool]] = {}
    hits = []
    for rank, (place, (file, row)) in enumerate(zip(ranked, stored, strict=True), start=1):
        number = place.index
        kind, name, qualified, signature, docstring, start_line, end_line, *_ = row
        key = (number, file.path)
        if key not in sources:
            sources[key] = _read(indexes[number].root, file)
        lines, stale = sources[key]
        hits.append(
            Hit(
                rank=rank,
                score=place.score,
                root=indexes[number].manifest.root,
                path=file.path,
                language=file.language,
                kind=kind,
                name=name,
                qualified_name=qualified,
                signature=signature,
                docstring=docstring,
                start_line=start_line,
                end_line=end_line,
                code=b"\n".join(lines[start_line - 1 : end_line]).decode("utf-8", "replace"),
                signals=place.signals,
                stale=stale,
            )
        )
    return hits


def _read(root: Path, file: FileRecord) -> tuple[list[bytes], bool]:
    path = root / file.path
    try:
        source = path.read_bytes()
    except OSError:
        return [], True
    return source.split(b"\n"), content_digest(source) != file.digest
