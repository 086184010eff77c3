"""The candidates that Milvus proposed for one query, as the snapshot that the ranking works on.

The statistics are those of the whole collection. A doc_id is the position of a candidate in the order of path, root and
place in the file.
"""

# ruff: noqa: D102 - `Snapshot` describes the methods.
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.milvus.rows import STORED, field_lengths_of, frequencies_of
from codesearch.milvus.store import MilvusStore
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.postings import PostingsReader, occurrence_weights
from codesearch.store.snapshot import DocIds, Snapshot
from codesearch.store.source import Excerpt, Ref
from codesearch.text.terms import FIELDS
from codesearch.types import KINDS

FIELDS_READ = ("id", "root", "path", "language", "place", "kind", *STORED, "terms", "vector")
"""Fields of a row that a candidate has."""


class _Postings(PostingsReader):
    """What scoring needs, for the terms of one query."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], terms: Sequence[str]) -> None:
        texts = [str(row["terms"]) for row in rows]
        self.lengths = np.array(list(map(field_lengths_of, texts)), np.uint16).reshape(-1, len(FIELDS))
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
        return occurrence_weights(self.lengths, field_weights, field_b, average_lengths.tolist())


class CandidateDocuments(Snapshot):
    """The candidates of one query. Every method that a ranking calls reads the rows, because there are no segments."""

    def __init__(
        self,
        store: MilvusStore,
        rows: Iterable[Mapping[str, Any]],
        terms: Sequence[str],
        document_count: int,
        average_lengths: NDArray[np.float64],
    ) -> None:
        super().__init__([])
        self._store = store
        self._rows = sorted(rows, key=lambda row: (row["path"], row["root"], row["place"]))
        self.size = len(self._rows)
        self.document_count = document_count
        self.average_lengths = average_lengths
        self._postings = _Postings(self._rows, terms)
        self._vectors = np.array([row["vector"] for row in self._rows], np.float32)

    def based_postings(self) -> Iterator[tuple[int, PostingsReader]]:
        yield 0, self._postings

    def _column(self, doc_ids: DocIds, name: str, dtype: type[np.generic]) -> NDArray[Any]:
        return np.array([self._rows[doc_id][name] for doc_id in doc_ids.tolist()], dtype)

    def kinds(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        return self._column(doc_ids, "kind", np.uint8)

    def flags(self, doc_ids: DocIds) -> NDArray[np.uint8]:
        return self._column(doc_ids, "flags", np.uint8)

    def copy_keys(self, doc_ids: DocIds) -> DocIds:
        return self._column(doc_ids, "copy_key", np.int64)

    def file_numbers(self, doc_ids: DocIds) -> DocIds:
        numbers: dict[tuple[str, str], int] = {}
        files = [(self._rows[doc_id]["root"], self._rows[doc_id]["path"]) for doc_id in doc_ids.tolist()]
        return np.array([numbers.setdefault(file, len(numbers)) for file in files], np.int64)

    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]:
        return np.asarray(self._postings.lengths[doc_ids, field])

    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
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
        chosen = np.arange(self.size) if allowed is None else np.flatnonzero(allowed)
        return self.best(chosen, self.similarities(query, chosen), count)

    def refs(self, doc_ids: Sequence[int]) -> list[Ref]:
        rows = [self._rows[doc_id] for doc_id in doc_ids]
        found = []

        @cache
        def codes() -> dict[str, str]:
            ids = list(dict.fromkeys(row["id"] for row in rows))
            read = self._store.get(self._store.documents, ids, ("id", "code"))
            return {row["id"]: row["code"] for row in read}

        # The first document that is asked for its code reads the code of all.
        for doc_id, row in zip(doc_ids, rows, strict=True):
            stored = DocumentRow(
                kind=KINDS[row["kind"]],
                start_byte=0,
                end_byte=0,
                shape_key=0,
                **{name: row[name] for name in STORED},
            )
            file = FileRecord(row["path"], row["language"], size=0, digest=b"")
            found.append(Ref(doc_id, _ServerCode(row["root"], row["id"], codes), file, stored))
        return found

    def named(self, name: str) -> Iterator[tuple[int, str, str]]:
        for doc_id, row in enumerate(self._rows):
            if row["name"].lower() == name.lower():
                yield doc_id, row["name"], row["qualified_name"]

    def at_path(self, path: str) -> list[Sequence[int]]:
        found: dict[tuple[bool, str, str], list[int]] = {}
        for doc_id, row in enumerate(self._rows):
            if f"/{row['path']}".endswith(f"/{path}"):
                found.setdefault((row["path"] != path, row["path"], row["root"]), []).append(doc_id)
        return [found[file] for file in sorted(found)]

    def paths_of(self, doc_ids: DocIds) -> list[str]:
        return [self._rows[doc_id]["path"] for doc_id in doc_ids.tolist()]


@dataclass(frozen=True, slots=True)
class _ServerCode:
    """The root of one document, and its code when it was indexed; the sources may be on another machine.

    Attributes:
        key: its id.
        codes: returns the code of each document that still exists, by id.
    """

    root: str
    key: str
    codes: Callable[[], Mapping[str, str]]

    def excerpt(self, file: FileRecord, row: DocumentRow, context: int) -> Excerpt | None:
        """Return the code without lines around it; None if the document is gone."""
        code = self.codes().get(self.key)
        return None if code is None else Excerpt(code)
