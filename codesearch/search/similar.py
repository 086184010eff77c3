"""A line of a source file -> the definition at that line -> documents with similar terms and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from codesearch.analysis.terms import document_terms
from codesearch.config import ParseConfig, WalkConfig
from codesearch.encoding.text import document_text
from codesearch.errors import ConfigError
from codesearch.index.parse import extract_guarded
from codesearch.index.snapshot import Snapshot
from codesearch.parsing.languages import language_named, language_of_path
from codesearch.search.candidates import AnalysedQuery
from codesearch.search.copies import places_with_copies
from codesearch.search.fusion import Ranked
from codesearch.search.request import SearchRequest
from codesearch.search.searcher import MAX_CODE_TERMS, Found, Searcher
from codesearch.segments.store import DocumentRow
from codesearch.treefiles import read_regular
from codesearch.types import Document

_SPARE = 32
"""Additional places to fetch, because definitions that overlap the given one are removed."""


def document_at(path: Path, line: int) -> Document:
    """Parse a file and return the innermost definition that covers a line, with an absolute path.

    Raises:
        ConfigError: there is no such file, its language is unknown, or no definition covers the line.
        MissingExtraError: the grammar of its language is not installed.
    """
    spec = language_of_path(path.name)
    if spec is None:
        raise ConfigError(f"{path}: not a source file of a known language")
    try:
        source, _ = read_regular(path, WalkConfig().max_file_bytes)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: give a file that can be read") from None
    documents = extract_guarded(source, path.resolve().as_posix(), spec, ParseConfig()).documents
    around = [document for document in documents if document.start_line <= line <= document.end_line]
    if not around:
        raise ConfigError(f"{path}:{line}: no function or class there: give a line inside one")
    return max(around, key=lambda document: document.start_byte)


def search_similar(searcher: Searcher, document: Document, request: SearchRequest) -> Found:
    """Return the documents most similar to a given one, best first, without those that overlap it in its file.

    Raises:
        ConfigError: the searcher has no model.
    """
    vector = searcher.document_vector(document_text(document), document.language)
    query = AnalysedQuery(text="", terms=_terms(document), vector=vector if vector.any() else None)
    ranking = searcher.ranking(query, request.filters)
    nearest = places_with_copies(ranking, request.top_k + _SPARE)
    left_out = _overlapping(ranking.snapshot, nearest, document)
    return Found(searcher.hits(query, ranking, request, left_out))


def _terms(document: Document) -> list[str]:
    """List at most `MAX_CODE_TERMS` distinct terms of a document, in the order of `FIELDS`, without the context."""
    return list(dict.fromkeys(chain.from_iterable(document_terms(document)[:-1])))[:MAX_CODE_TERMS]


def _overlapping(snapshot: Snapshot, places: Sequence[Ranked], document: Document) -> set[int]:
    """Return the doc_ids at some places that are the given document, are inside it or contain it."""
    doc_ids = [doc_id for place in places for doc_id in (place.doc_id, *place.copies)]
    return {
        doc_id
        for doc_id, (segment, file, row) in zip(doc_ids, snapshot.stored(doc_ids), strict=True)
        if _overlaps(row, document) and Path(segment.root, file.path).resolve() == Path(document.path)
    }


def _overlaps(row: DocumentRow, document: Document) -> bool:
    """Say whether a row shares lines with a definition of the same file, or is a class that contains it."""
    shares_lines = row.start_line <= document.end_line and row.end_line >= document.start_line
    if shares_lines or not row.qualified_name:
        return shares_lines
    spec = language_named(document.language)
    return spec is not None and document.qualified_name.startswith(f"{row.qualified_name}{spec.separator}")
