"""The candidates that Milvus proposed for one query, as the collection of documents that the ranking works on.

It answers what `codesearch.index.snapshot.Snapshot` answers, with the statistics of the whole collection. A doc_id is
the position of a candidate in the order of path, root and place in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis.terms import FIELDS
from codesearch.backends.milvus.rows import field_lengths_of, frequencies_of
from codesearch.search.hydrate import Excerpt
from codesearch.segments.postings import occurrence_weights
from codesearch.segments.store import DocumentRow, FileRecord
from codesearch.segments.topk import best_positions
from codesearch.types import KINDS

DocIds = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Numbers about the whole collection that BM25F needs.

    Attributes:
        documents: how many there are, N.
        average_lengths: of each field, see `Snapshot`: float64 [F].
        frequencies: query term -> documents with it.
    """

    documents: int
    average_lengths: NDArray[np.float64]
    frequencies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Root:
    """The part of a segment that hits need."""

    root: str


class _Postings:
    """The part of `PostingsReader` that scoring needs, for the terms of one query."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], terms: Sequence[str]) -> None:
        texts = [str(row["terms"]) for row in rows]
        self.field_lengths = np.array(list(map(field_lengths_of, texts)), np.uint16).reshape(-1, len(FIELDS))
        self._terms = list(terms)
        self._frequencies = [
            np.array([frequencies_of(text, term) for text in texts], np.uint8).reshape(-1, len(FIELDS))
            for term in terms
        ]

    def find(self, term: str) -> int | None:
        return self._terms.index(term) if term in self._terms else None

    def by_field(self, term_id: int) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.uint8]]]:
        for number, frequencies in enumerate(self._frequencies[term_id].T):
            doc_ids = np.flatnonzero(frequencies).astype(np.uint32)
            if len(doc_ids):
                yield number, doc_ids, frequencies[doc_ids]

    def occurrence_weights(
        self,
        field_weights: tuple[float, ...],
        field_b: tuple[float, ...],
        average_lengths: NDArray[np.float64],
    ) -> NDArray[np.float32]:
        return occurrence_weights(self.field_lengths, field_weights, field_b, average_lengths.tolist())


@dataclass(frozen=True, slots=True)
class _Segment:
    """The part of a segment that scoring needs."""

    postings: _Postings


class CandidateSnapshot:
    """The candidates of one query."""

    def __init__(
        self, rows: Iterable[Mapping[str, Any]], terms: Sequence[str], statistics: Statistics
    ) -> None:
        """Take the candidates.

        Args:
            rows: of the collection of documents, each once.
            terms: of the query.
            statistics: of the collection.
        """
        self.rows = sorted(rows, key=lambda row: (row["path"], row["root"], row["place"]))
        self.size = len(self.rows)
        self.document_count = statistics.documents
        self.average_lengths = statistics.average_lengths
        self.dead = None
        self._frequencies = statistics.frequencies
        self._segment = _Segment(_Postings(self.rows, terms))
        self._vectors = np.array([row["vector"] for row in self.rows], np.float32)

    def document_frequency(self, term: str, here: int) -> int:
        """Return the number of documents of the collection with a term; at least those that are here."""
        return max(here, self._frequencies.get(term, 0))

    def based_segments(self) -> Iterator[tuple[int, _Segment]]:
        """Yield the one segment."""
        yield 0, self._segment

    def kinds(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        """Return positions in `KINDS`: uint8, in the same order."""
        return np.array([self.rows[doc_id]["kind"] for doc_id in doc_ids.tolist()], np.uint8)

    def flags(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        """Return `Document.flags`: uint8, in the same order."""
        return np.array([self.rows[doc_id]["flags"] for doc_id in doc_ids.tolist()], np.uint8)

    def copy_keys(self, doc_ids: DocIds) -> DocIds:
        """Return `Document.copy_key`: int64, in the same order."""
        return np.array([self.rows[doc_id]["copy_key"] for doc_id in doc_ids.tolist()], np.int64)

    def file_numbers(self, doc_ids: DocIds) -> DocIds:
        """Return a number for each document that is equal only for documents of the same file: int64."""
        numbers: dict[tuple[str, str], int] = {}
        files = [(self.rows[doc_id]["root"], self.rows[doc_id]["path"]) for doc_id in doc_ids.tolist()]
        return np.array([numbers.setdefault(file, len(numbers)) for file in files], np.int64)

    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]:
        """Return the number of terms in a field of each document: uint16, in the same order."""
        return np.asarray(self._segment.postings.field_lengths[doc_ids, field])

    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        """Return the cosine of each document with a unit query [D]: float32, in the same order."""
        if not len(doc_ids):
            return np.empty(0, np.float32)
        return np.asarray(np.vecdot(self._vectors[doc_ids], query), np.float32)

    def nearest(
        self,
        query: NDArray[np.float32],
        count: int,
        allowed: NDArray[np.bool_] | None,
        ef_search: int,  # The server has searched its graph.
    ) -> DocIds:
        """Return the `count` allowed candidates most similar to a unit query [D], in any order."""
        chosen = np.arange(self.size) if allowed is None else np.flatnonzero(allowed)
        return self.best(chosen, self.similarities(query, chosen), count)

    def best(self, doc_ids: DocIds, scores: NDArray[np.float32], count: int) -> DocIds:
        """Return the candidates with the `count` highest scores; for ties at the cut-off, the first."""
        return doc_ids[best_positions(scores, count)]

    def order(self, doc_ids: DocIds, scores: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return the positions by score, highest first; ties in the order of doc_ids."""
        return np.lexsort((doc_ids, -scores))

    def stored(self, doc_ids: Sequence[int]) -> list[tuple[_Root, FileRecord, DocumentRow]]:
        """Return root, file and row of each document, in the same order."""
        return [self._stored(self.rows[doc_id]) for doc_id in doc_ids]

    def _stored(self, row: Mapping[str, Any]) -> tuple[_Root, FileRecord, DocumentRow]:
        file = FileRecord(row["path"], row["language"], 0, 0, row["id"].encode())
        return (
            _Root(row["root"]),
            file,
            DocumentRow(
                kind=KINDS[row["kind"]],
                name=row["name"],
                qualified_name=row["qualified_name"],
                signature=row["signature"],
                docstring=row["docstring"],
                start_line=row["start_line"],
                end_line=row["end_line"],
                start_byte=0,
                end_byte=0,
                flags=row["flags"],
                copy_key=row["copy_key"],
                text_digest=b"",
            ),
        )

    def named(self, name: str) -> Iterator[tuple[int, str, str]]:
        """Yield (doc_id, name, qualified_name) of each candidate with this name, ignoring case."""
        for doc_id, row in enumerate(self.rows):
            if row["name"].lower() == name.lower():
                yield doc_id, row["name"], row["qualified_name"]

    def path_of(self, doc_id: int) -> PurePosixPath:
        """Return the path of a document's file, relative to its root."""
        return PurePosixPath(self.rows[doc_id]["path"])


class StoredCode:
    """The code of hits as it was when they were indexed; the sources may be on another machine."""

    def __init__(self, code: Mapping[str, str]) -> None:
        """Take the code of documents by their ids."""
        self._code = code

    def excerpt(self, document: tuple[_Root, FileRecord, DocumentRow]) -> Excerpt | None:
        """Return the code of a document; None if it is gone."""
        code = self._code.get(document[1].digest.decode())
        return None if code is None else Excerpt(code)
