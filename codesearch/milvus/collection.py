"""Searches of the collections of a server.

The server finds candidates in three ways: by vectors, by BM25 over the terms, and by name. It returns their signals and
term counts. BM25F with the statistics of the collection, fusion, heuristics and all that follows are the code that the
embedded index uses. They work on the candidates as on the snapshot of an index.
"""

# ruff: noqa: D102 - `Snapshot` and `Searched` describe the methods.
from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import ConfigError
from codesearch.milvus.store import LINES, STORED, MilvusStore, quoted
from codesearch.search.filters import literal_prefix, path_filter
from codesearch.search.forms import parse_asked, possible_names
from codesearch.search.lexical import LexicalScorer, Pool
from codesearch.search.ranking import AnalysedQuery
from codesearch.search.request import Filters
from codesearch.search.searcher import Searched
from codesearch.store.arrays import ROW
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.postings import PostingsReader
from codesearch.store.snapshot import DocIds, Snapshot, idf_of
from codesearch.store.sorting import distinct
from codesearch.store.source import Excerpt, Ref
from codesearch.text.onnx import OnnxEncoder
from codesearch.text.terms import FIELDS, SIGNATURE_BITS
from codesearch.types import KINDS

FIELDS_READ = ("id", "root", "path", "language", "place", "kind", *STORED, "terms", "vector")
"""Fields of a row that a candidate has."""
PASSAGE_FIELDS_READ = ("document", *LINES, "signature", "vector")
_MOST_NAMED = 1_000
_MOST = 16_384
"""Rows that Milvus returns for one search at most."""


class _Postings(PostingsReader):
    """What scoring needs, for the terms of one query."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], terms: Sequence[str]) -> None:
        fields = [str(row["terms"]).split("\n") for row in rows]
        lengths = [[int(field.partition(" ")[0]) for field in of_row] for of_row in fields]
        self._arrays = {"field_lengths": np.array(lengths, np.uint16).reshape(-1, len(FIELDS))}
        self._occurrence_weights = {}
        self._terms = list(terms)
        self._frequencies = [
            np.array([frequency_in(field, term) for of_row in fields for field in of_row], np.uint8)
            for term in terms
        ]

    def find(self, term: str) -> int | None:
        return self._terms.index(term) if term in self._terms else None

    def of_term(self, term_id: int) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
        frequencies = self._frequencies[term_id].reshape(-1, len(FIELDS)).T
        fields, doc_ids = frequencies.nonzero()
        return fields, doc_ids.astype(np.uint32), frequencies[fields, doc_ids]


def frequency_in(field: str, term: str) -> int:
    """Return the frequency of a term in a field of `terms`.

    >>> frequency_in("2 tree:2 copy", "tree"), frequency_in("2 tree:2 copy", "copy"), frequency_in("1 copytree", "copy")
    (2, 1, 0)
    """
    found = re.search(rf" {re.escape(term)}(?::(\d+))?(?: |$)", field)
    return int(found[1] or 1) if found else 0


class Passages:
    """The passages of some documents, by document and line.

    Attributes:
        owners: position of the document of each, int64 [P].
        lines: first and last line of each, int64 [P, 2].
        signatures: the terms of each (see `codesearch.text.terms`), uint32 [P, 8].
        vectors: float32 [P, D], [0] if there are none.
    """

    def __init__(self, rows: Iterable[Mapping[str, Any]], documents: Sequence[str]) -> None:
        places = {key: at for at, key in enumerate(documents)}
        read = sorted(rows, key=lambda row: (places[row["document"]], row[LINES[0]]))
        bits = bytes.fromhex("".join(row["signature"] for row in read))
        self.owners = np.array([places[row["document"]] for row in read], np.int64)
        self.lines = np.array([[row[name] for name in LINES] for row in read], np.int64).reshape(-1, 2)
        self.signatures = np.frombuffer(bits, "<u4").reshape(-1, SIGNATURE_BITS // 32)
        self.vectors = np.array([row["vector"] for row in read], np.float32)

    def similarities(
        self, query: NDArray[np.float32] | None, chosen: NDArray[np.int64] | slice
    ) -> NDArray[np.float32]:
        """Return the cosine of each chosen one with a unit query [D], or zeros without one: float32."""
        vectors = self.vectors[chosen]
        if query is None or not len(vectors):
            return np.zeros(len(vectors), np.float32)
        return np.asarray(vectors @ query)


class CandidateDocuments(Snapshot):
    """The candidates of one query, with the statistics of the collection; all methods that a ranking calls read rows.

    A doc_id is the position of a candidate in the order of path, root and place in the file.
    """

    def __init__(
        self,
        store: MilvusStore,
        rows: Iterable[Mapping[str, Any]],
        passages: Iterable[Mapping[str, Any]],
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
        self._passages = Passages(passages, [row["id"] for row in self._rows])

    def based_postings(self) -> Iterator[tuple[int, PostingsReader]]:
        yield 0, self._postings

    def rows(self, doc_ids: DocIds) -> NDArray[Any]:
        numbers: dict[tuple[str, str], int] = {}
        read = [self._rows[doc_id] for doc_id in doc_ids.tolist()]
        files = [numbers.setdefault((row["root"], row["path"]), len(numbers)) for row in read]
        values = ({**row, "file_id": file} for row, file in zip(read, files, strict=True))
        return np.array([tuple(value.get(name, 0) for name in ROW.names or ()) for value in values], ROW)

    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]:
        return np.asarray(self._postings.field_lengths[doc_ids, field])

    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        if not len(doc_ids):
            return np.empty(0, np.float32)
        return np.asarray(np.vecdot(self._vectors[doc_ids], query), np.float32)

    def passage_similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]:
        return self._highest_of(doc_ids, self._passages.similarities(query, slice(None)))

    def passage_coverage(self, idf: Mapping[str, float], doc_ids: DocIds) -> NDArray[np.float32]:
        return self._highest_of(doc_ids, idf_of(self._passages.signatures, idf))

    def _highest_of(self, doc_ids: DocIds, values: NDArray[np.float32]) -> NDArray[np.float32]:
        highest = np.full(self.size, -1, np.float32)
        np.maximum.at(highest, self._passages.owners, values)
        return highest[doc_ids]

    def passages(
        self, doc_id: int, query: NDArray[np.float32] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        own = np.flatnonzero(self._passages.owners == doc_id)
        return self._passages.lines[own], self._passages.similarities(query, own)

    def nearest_passages(
        self, query: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None, ef_search: int
    ) -> DocIds:
        """Return all documents with passages: the server has searched."""
        owners = distinct(self._passages.owners)
        return owners if allowed is None else owners[allowed[owners]]

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
            known = {name: row[name] for name in STORED} | {"kind": KINDS[row["kind"]]}
            stored = DocumentRow(**{**dict.fromkeys(DocumentRow._fields, 0), **known})
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
    """The root of one document, and its code when it was indexed; the sources may be on another machine."""

    root: str
    key: str  # Its id.
    codes: Callable[[], Mapping[str, str]]  # Returns the code of each document that still exists, by id.

    def excerpt(self, file: FileRecord, row: DocumentRow, context: int) -> Excerpt | None:
        """Return the code without lines around it; None if the document is gone."""
        code = self.codes().get(self.key)
        return None if code is None else Excerpt(code)


class SearchedCollection(Searched):
    """Some roots of a collection, or all if none is named. Safe to use from several threads."""

    def __init__(self, store: MilvusStore, roots: Sequence[str] = ()) -> None:
        super().__init__()
        self._store, self._roots = store, tuple(roots)
        self.roots = self._roots or (store.connection.uri,)

    is_local = False

    @property
    def document_count(self) -> int:
        return self._store.totals()[0]

    def check_model(self, encoder: OnnxEncoder) -> None:
        self._store.check_model(encoder.model_id, encoder.name)

    def pool(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Pool:
        count = min(config.candidate_count, _MOST)
        condition = _condition(filters, self._roots)
        with ThreadPoolExecutor(4) as pool:  # The server answers at the same time.
            frequencies = pool.submit(self._store.frequencies, query.terms)
            totals = pool.submit(self._store.totals)
            searches = []
            if query.vector is not None:
                vector = query.vector.tolist()
                searches.append(pool.submit(self._store.search, "vector", vector, count, condition))
                searches.append(pool.submit(self._store.search_passages, vector, count // 2, condition))
            if query.terms:
                text = " ".join(query.terms)
                searches.append(pool.submit(self._store.search, "sparse", text, count, condition))
            if names := possible_names(query.text):
                named = f"name_key in {json.dumps([name.lower() for name in names])}"
                searches.append(pool.submit(self._ids, named, condition))
            if path := parse_asked(query.text).file:
                at = f"(path == {quoted(path)} or path like {quoted(f'%/{path}')})"
                searches.append(pool.submit(self._ids, at, condition))
            ids = {found for search in searches for found in search.result()}
            rows = _passing(self._store.get(self._store.documents, sorted(ids), FIELDS_READ), filters)
        of_rows = f"document in {quoted([row['id'] for row in rows])}"
        passages = self._store.read(self._store.passages, of_rows, PASSAGE_FIELDS_READ) if rows else ()
        candidates = CandidateDocuments(self._store, rows, passages, query.terms, *totals.result())
        return Pool(candidates, LexicalScorer(candidates, config, frequencies.result()))

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters that the server knows."""
        return self._store.count(self._store.documents, _condition(filters, self._roots)) > 0

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        raise ConfigError("--changed needs the work tree", "search its local index, without --backend")

    def _ids(self, *conditions: str) -> list[str]:
        """Return the ids of documents for which all conditions that are not empty hold."""
        rows = self._store.read(self._store.documents, " and ".join(filter(None, conditions)), ("id",))
        return [row["id"] for row in islice(rows, _MOST_NAMED)]


def _condition(filters: Filters, roots: Sequence[str]) -> str:
    """Write the filters as the server's condition; it may let more pass, as only `_passing` knows all of a glob."""
    parts = []
    if roots:
        parts.append(f"root in {quoted(list(roots))}")
    if filters.languages:
        parts.append(f"language in {quoted(list(filters.languages))}")
    if filters.kinds:
        parts.append(f"kind in {[KINDS.index(kind) for kind in filters.kinds]}")
    prefixes = [literal_prefix(glob) for glob in filters.paths if not glob.startswith("!")]
    if prefixes and all(prefixes):
        # LIKE reads % as a wildcard, so take what is before it.
        likes = (f"path like {quoted(prefix.partition('%')[0] + '%')}" for prefix in prefixes)
        parts.append(f"({' or '.join(likes)})")
    return " and ".join(parts)


def _passing(rows: Iterable[dict[str, Any]], filters: Filters) -> list[dict[str, Any]]:
    if not (filters.paths or filters.within):
        return list(rows)
    passes = cache(lambda root: path_filter(filters, Path(root)))
    return [row for row in rows if passes(row["root"])(row["path"])]
