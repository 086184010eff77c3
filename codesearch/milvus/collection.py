"""Searches of the collections of a server.

The server finds candidates in three ways: by vectors, by BM25 over the terms, and by name. It returns their signals and
term counts. BM25F with the statistics of the collection, fusion, heuristics and all that follows are the code that the
embedded index uses.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.errors import BackendError, ConfigError
from codesearch.milvus.candidates import FIELDS_READ, CandidateDocuments
from codesearch.milvus.store import SHARD, MilvusStore, quoted
from codesearch.search.candidates import AnalysedQuery, Pool
from codesearch.search.filters import literal_prefix, path_filter
from codesearch.search.forms import parse_asked, possible_names
from codesearch.search.lexical import LexicalScorer
from codesearch.search.request import Filters
from codesearch.store.snapshot import average_lengths
from codesearch.text.encoder import Encoder
from codesearch.types import KINDS

_STATISTICS_S = 60.0
"""How long the totals of the collection are kept; they change slowly."""
_MOST_NAMED = 1_000
_MOST = 16_384
"""Rows that Milvus returns for one search at most."""


class Collection:
    """The collections of a server with what is known about them. Safe to share between threads."""

    def __init__(self, store: MilvusStore) -> None:
        """Check the collections."""
        self.store = store
        made = store.check()
        self.index = str(made["index"])
        self.model = made["model"]
        self._lock = threading.Lock()
        self._totals: tuple[float, int, NDArray[np.float64]] | None = None

    def totals(self) -> tuple[int, NDArray[np.float64]]:
        """Return the number of documents and the mean length of each field, at most `_STATISTICS_S` seconds old."""
        with self._lock:
            if self._totals is None or time.monotonic() > self._totals[0] + _STATISTICS_S:
                rows = self.store.read(self.store.roots, f'id like "{SHARD}%"', ("about",))
                shards = [json.loads(row["about"]) for row in rows]
                if not shards:
                    raise BackendError(
                        f"collection {self.store.documents} has no statistics yet",
                        "wait until the first shard is indexed",
                    )
                lengths = average_lengths(
                    [shard["field_sums"] for shard in shards], [shard["field_counts"] for shard in shards]
                )
                self._totals = time.monotonic(), sum(shard["documents"] for shard in shards), lengths
            return self._totals[1:]

    def frequencies(self, terms: Sequence[str]) -> Counter[str]:
        """Return how many documents of the collection have each term."""
        counts: Counter[str] = Counter()
        if terms:
            condition = f"term in {json.dumps(list(terms), ensure_ascii=False)}"
            for row in self.store.read(self.store.terms, condition, ("term", "documents")):
                counts[row["term"]] += row["documents"]
        return counts


class SearchedCollection:
    """Some roots of a collection, or all if none is named. Safe to use from several threads."""

    def __init__(self, collection: Collection, roots: Sequence[str] = ()) -> None:
        self._collection, self._store = collection, collection.store
        self._roots = tuple(roots)

    snapshot = model_folder = None
    left_out = 0

    @property
    def document_count(self) -> int:
        """Number of documents in the collections."""
        return self._collection.totals()[0]

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots that the search is limited to, or the address of the server."""
        return self._roots or (self._store.connection.uri,)

    def check_model(self, encoder: Encoder) -> None:
        """Raise BackendError if another model filled the collections."""
        self._store.check_model(self._collection.model, encoder.model_id, encoder.name)

    def pool(self, query: AnalysedQuery, filters: Filters, config: RankConfig) -> Pool:
        """Return what the server proposes for an analysed query."""
        count = min(config.candidate_count, _MOST)
        condition = _condition(filters, self._roots)
        with ThreadPoolExecutor(4) as pool:  # The server answers at the same time.
            frequencies = pool.submit(self._collection.frequencies, query.terms)
            searches = []
            if query.vector is not None:
                vector = query.vector.tolist()
                searches.append(
                    pool.submit(self._store.nearest, vector, count, condition, self._collection.index)
                )
            if query.terms:
                text = " ".join(query.terms)
                searches.append(pool.submit(self._store.best_by_words, text, count, condition))
            if names := possible_names(query.text):
                searches.append(pool.submit(self._ids, _has_name(names), condition))
            if path := parse_asked(query.text).file:
                searches.append(pool.submit(self._ids, _is_at(path), condition))
            ids = {found for search in searches for found in search.result()}
            rows = self._store.get(self._store.documents, sorted(ids), FIELDS_READ)
        candidates = CandidateDocuments(
            self._store, _passing(rows, filters), query.terms, *self._collection.totals()
        )
        return Pool(candidates, LexicalScorer(candidates, config, frequencies.result()))

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters that the server knows."""
        return self._store.count(self._store.documents, _condition(filters, self._roots)) > 0

    def changed_files(self, filters: Filters, revision: str) -> tuple[frozenset[str], dict[str, ConfigError]]:
        """Raise ConfigError: the work trees are not on the server."""
        raise ConfigError("--changed needs the work tree", "search its local index, without --backend")

    def _ids(self, *conditions: str) -> list[str]:
        """Return the ids of documents for which all conditions that are not empty hold."""
        rows = self._store.read(self._store.documents, " and ".join(filter(None, conditions)), ("id",))
        return [row["id"] for row in islice(rows, _MOST_NAMED)]


def _has_name(names: Sequence[str]) -> str:
    return f"name_key in {json.dumps([name.lower() for name in names])}"


def _is_at(path: str) -> str:
    return f"(path == {quoted(path)} or path like {quoted(f'%/{path}')})"


def _condition(filters: Filters, roots: Sequence[str]) -> str:
    """Write the filters as the server's condition; it may let more pass, as only `_passing` knows all of a glob."""
    parts = []
    if roots:
        parts.append(f"root in {json.dumps(list(roots), ensure_ascii=False)}")
    if filters.languages:
        parts.append(f"language in {json.dumps(list(filters.languages))}")
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
