"""A line of a source file -> the definition at that line -> documents with similar terms and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.build.parse import extract_guarded
from codesearch.config import ParseConfig, WalkConfig
from codesearch.errors import ConfigError
from codesearch.languages import language_of_path, language_of_shebang, record_of
from codesearch.parsing.decoding import decoded
from codesearch.parsing.extract import Extraction
from codesearch.search.lookup import innermost, live_file, paths_in
from codesearch.search.ranking import AnalysedQuery, Candidate
from codesearch.search.request import Place, SearchRequest
from codesearch.search.screen import group_copies
from codesearch.search.searcher import MAX_CODE_TERMS, Found, Searcher
from codesearch.store.database import DocumentRow
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import read_source
from codesearch.text.terms import FIELDS, document_terms
from codesearch.text.tokenizer import document_text
from codesearch.treefiles import read_regular
from codesearch.types import Definition

_SPARE = 32
"""Additional documents to fetch, because definitions that overlap the given one are removed."""
Example = tuple[Definition, Sequence[str], NDArray[np.float32]]
"""A definition with an absolute path; the distinct terms of its fields without the context, the most important ones
first; its vector: float32 [D]."""


def extraction_of(path: Path, text: str | None = None, content: str = "code") -> Extraction:
    """Parse a file, or its text; paths of the definitions are absolute."""
    if text is not None:
        source = text.encode("utf-8", "replace")
    else:
        try:
            source, _ = read_regular(path, WalkConfig().max_file_bytes)
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}", "give a file that can be read") from None
    source = decoded(source, path.name)
    spec = None if "." in path.name else language_of_shebang(source.partition(b"\n")[0])
    spec = spec or language_of_path(path.name, content)
    if spec is None:
        raise ConfigError(f"{path}: not a source file of a known language")
    return extract_guarded(source, path.resolve().as_posix(), spec, ParseConfig())


def search_similar(searcher: Searcher, place: Place, request: SearchRequest) -> Found:
    """Return the documents most similar to the definition at a line, best first, without those that overlap it.

    An indexed definition has its terms and its vector in the index. A text, and a file that is not indexed or has
    changed, is parsed.
    """
    # The file may differ from what a server has.
    indexes = searcher.searched.indexes if place.text is None else ()
    stored = (_stored_example(index, place) for index in indexes)
    definition, terms, vector = next(filter(None, stored), None) or _parsed_example(searcher, place)
    query = AnalysedQuery(text="", terms=terms[:MAX_CODE_TERMS], vector=vector if vector.any() else None)
    ranking = searcher.ranking(query, request.filters, all_code=request.all_code)
    nearest = group_copies("", ranking, request.count + _SPARE)
    left_out = _overlapping(ranking.documents, nearest, definition, is_saved=place.text is None)
    return Found(searcher.hits(query, ranking, request, left_out))


def _stored_example(index: IndexReader, place: Place) -> Example | None:
    """Return the innermost definition at a line of an indexed file that did not change; None if there is none."""
    if not index.manifest.has_sources and place.path.exists():
        return None
    for path in paths_in(index, str(place.path), Path.cwd()):
        if (indexed := live_file(index, path)) is None:
            continue
        segment, file = indexed
        source, rows = read_source(segment, file), segment.store.document_rows(file)
        at = innermost(rows, place.line)
        if at is None or source is None or source[1]:
            continue
        number = file.first_doc + at
        # A term that occurs often says more about a definition; the order of terms is the same in every segment.
        stored = sorted(segment.postings.document_terms(number), key=lambda entry: (entry[0], -entry[1]))
        return (
            replace(rows[at].of(file), path=str(Path(segment.root, path).resolve())),
            list(dict.fromkeys(term for field, count, term in stored if count and field < len(FIELDS) - 1)),
            segment.vectors.rows[number] * segment.vectors.scales[number],
        )
    return None


def _parsed_example(searcher: Searcher, place: Place) -> Example:
    """Parse the file and return the innermost definition that covers the line."""
    documents = extraction_of(place.path, place.text).documents
    at = innermost(documents, place.line)
    if at is None:
        raise ConfigError(f"{place.path}:{place.line}: no function or class there", "give a line inside one")
    document = documents[at]
    terms = list(dict.fromkeys(chain.from_iterable(document_terms(document)[:-1])))
    return document, terms, searcher.document_vector(document_text(document), document.language)


def _overlapping(
    documents: Snapshot, nearest: Sequence[Candidate], document: Definition, *, is_saved: bool
) -> set[int]:
    """Return the doc_ids at some places that are the given document, are inside it or contain it."""
    doc_ids = [doc_id for candidate in nearest for doc_id in (candidate.doc_id, *candidate.copies)]
    return {
        ref.doc_id
        for ref in documents.refs(doc_ids)
        if _overlaps(ref.row, document, is_saved=is_saved)
        and Path(ref.root, ref.path).resolve() == Path(document.path)
    }


def _overlaps(row: DocumentRow, document: Definition, *, is_saved: bool) -> bool:
    """Say whether a row shares lines with a definition of the same file, or is a class that contains it.

    The lines of a text that is not saved are others, so the name decides there.
    """
    shares_lines = row.start_line <= document.end_line and row.end_line >= document.start_line
    is_same = shares_lines if is_saved else row.qualified_name == document.qualified_name
    if is_same or not row.qualified_name:
        return is_same
    return document.qualified_name.startswith(f"{row.qualified_name}{record_of(document.language).separator}")
