"""A line of an indexed file, or a name -> the definitions there; documents of each kind."""

from __future__ import annotations

import re

import numpy as np

from codesearch.engine.answer import Definition
from codesearch.errors import IndexNotFoundError
from codesearch.index.reader import IndexReader
from codesearch.search.hydrate import SourceExcerpts
from codesearch.segments.reader import SegmentReader
from codesearch.segments.store import DocumentRow, FileRecord
from codesearch.types import KINDS

_SEPARATORS = re.compile(r"::|[.#\\/]")


def find_definition(index: IndexReader, path: str, line: int) -> Definition:
    """Return the innermost definition at a line of a file that the index lists.

    Raises:
        IndexNotFoundError: the index does not list the file, the file is gone or leads out of the root, or no
            definition covers the line.
    """
    root = index.manifest.root
    segment, file = _indexed(index, path)
    rows = segment.store.document_rows(file.first_doc, file.doc_count)
    around = [row for row in rows if row.start_line <= line <= row.end_line]
    if not around:
        raise IndexNotFoundError(f"{path}:{line} has no definition in the index: give a line inside one")
    row = max(around, key=lambda row: row.start_byte)
    excerpt = SourceExcerpts().excerpt((segment, file, row))
    if excerpt is None:
        raise IndexNotFoundError(f"{path} is gone or cannot be read: run `codesearch index {root}`")
    return Definition(
        root=root,
        path=path,
        language=file.language,
        kind=row.kind,
        name=row.name,
        qualified_name=row.qualified_name,
        signature=row.signature,
        docstring=row.docstring,
        start_line=row.start_line,
        end_line=row.end_line,
        code=excerpt.code,
        stale=excerpt.stale,
    )


def find_named(index: IndexReader, name: str) -> list[tuple[str, DocumentRow]]:
    """List (path, row) of the live definitions with a name, by path and line.

    A qualified name, such as `Stack.push`, must be the end of the definition's qualified name. If no definition has the
    name in this case, case is ignored.
    """
    wanted = _parts(name)
    found = [
        (file.path, row)
        for segment in index.segments
        for number, _, qualified in segment.store.documents_named(_SEPARATORS.split(name)[-1])
        if _parts(qualified)[-len(wanted) :] == wanted
        and int(segment.rows.files[number]) not in segment.dead_files
        for file, row in segment.store.documents([number]).values()
    ]
    exact = [(path, row) for path, row in found if row.name == _SEPARATORS.split(name)[-1]]
    return sorted(exact or found, key=lambda place: (place[0], place[1].start_line))


def _parts(name: str) -> list[str]:
    return _SEPARATORS.split(name.lower())


def count_kinds(index: IndexReader) -> dict[str, int]:
    """Count the live documents of each kind."""
    counts = np.zeros(len(KINDS), dtype=np.int64)
    for segment in index.segments:
        live = np.delete(segment.rows.kinds, segment.dead)
        counts += np.bincount(live, minlength=len(KINDS))
    return {kind: int(count) for kind, count in zip(KINDS, counts, strict=True) if count}


def _indexed(index: IndexReader, path: str) -> tuple[SegmentReader, FileRecord]:
    for segment in index.segments:
        for file_id, file in segment.store.numbered_files([path]):
            if file_id not in segment.dead_files:
                return segment, file
    raise IndexNotFoundError(f"{path} is not in the index of {index.manifest.root}: give a path of a hit")
