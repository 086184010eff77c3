"""A query -> candidates from Milvus -> the ranking of the embedded index.

The server finds candidates in three ways: by vectors, by BM25 over the terms, and by name. It returns their signals and
term counts. BM25F with the statistics of the collection, fusion, reranking and all that follows are the code that the
embedded index uses.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from codesearch.backends.milvus.snapshot import CandidateSnapshot, Statistics, StoredCode
from codesearch.backends.milvus.store import SHARD, MilvusStore, quoted
from codesearch.config import RankConfig
from codesearch.encoding.encoder import Encoder
from codesearch.errors import BackendError
from codesearch.index.snapshot import Snapshot, average_lengths
from codesearch.search.candidates import AnalysedQuery
from codesearch.search.forms import possible_names
from codesearch.search.fusion import Ranked, Ranking
from codesearch.search.hydrate import Excerpts
from codesearch.search.lexical import LexicalScorer
from codesearch.search.paths import literal_prefix, path_filter
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher, rank_documents
from codesearch.types import KINDS, MAX_COPIES

_FIELDS = (
    "root path language place kind name qualified_name signature docstring start_line end_line flags copy_key terms "
    "vector"
).split()
_STATISTICS_S = 60.0
"""How long the totals of the collection are kept; they change slowly."""
_MOST_NAMED = 1_000
_MOST = 16_384
"""Rows that Milvus returns for one search at most."""


class Collection:
    """The collections of a server with what is known about them. Safe to share between threads."""

    def __init__(self, store: MilvusStore) -> None:
        """Check the collections.

        Raises:
            BackendError: they are absent, or another version filled them.
        """
        self.store = store
        made = store.check()
        self.index = str(made["index"])
        self._model = made["model"]
        self._lock = threading.Lock()
        self._totals: tuple[float, Statistics] | None = None

    def check_model(self, encoder: Encoder) -> None:
        """Raise BackendError if another model filled the collections."""
        self.store.check_model(self._model, encoder.model_id, encoder.name)

    def statistics(self) -> Statistics:
        """Return the totals of the collection, at most `_STATISTICS_S` seconds old.

        Raises:
            BackendError: no shard is complete yet.
        """
        with self._lock:
            if self._totals is None or time.monotonic() > self._totals[0] + _STATISTICS_S:
                rows = self.store.read(self.store.roots, f'id like "{SHARD}%"', ("about",))
                shards = [json.loads(row["about"]) for row in rows]
                if not shards:
                    raise BackendError(
                        f"collection {self.store.documents} has no statistics yet: "
                        "wait until the first shard is indexed"
                    )
                lengths = average_lengths(
                    [shard["field_sums"] for shard in shards], [shard["field_counts"] for shard in shards]
                )
                documents = sum(shard["documents"] for shard in shards)
                self._totals = time.monotonic(), Statistics(documents, lengths)
            return self._totals[1]

    def frequencies(self, terms: Sequence[str]) -> Counter[str]:
        """Return how many documents of the collection have each term."""
        counts: Counter[str] = Counter()
        if terms:
            condition = f"term in {json.dumps(list(terms), ensure_ascii=False)}"
            for row in self.store.read(self.store.terms, condition, ("term", "documents")):
                counts[row["term"]] += row["documents"]
        return counts


class MilvusSearcher(Searcher):
    """Answers queries over the collections of a server. Safe to use from several threads."""

    def __init__(
        self,
        collection: Collection,
        encoder: Encoder | None,
        config: RankConfig | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        """Make a searcher.

        Args:
            collection: the collections.
            encoder: embeds queries; None allows only mode "lexical".
            config: weights.
            roots: search only these; all when empty.

        Raises:
            BackendError: another model filled the collections.
        """
        super().__init__([], encoder, config)
        self._collection, self._store = collection, collection.store
        self._roots = tuple(roots)
        if encoder:
            collection.check_model(encoder)

    @property
    def document_count(self) -> int:
        """Number of documents in the collections."""
        return self._collection.statistics().documents

    @property
    def roots(self) -> tuple[str, ...]:
        """The roots that the search is limited to, or the address of the server."""
        return self._roots or (self._store.connection.uri,)

    def ranking(
        self, query: AnalysedQuery, filters: Filters | None = None, candidate_count: int | None = None
    ) -> Ranking:
        """Rank what the server proposes for an analysed query; the arguments are those of `Searcher.ranking`."""
        filters = filters or Filters()
        count = min(candidate_count or self.config.candidate_count, _MOST)
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
                searches.append(pool.submit(self._named, names, condition))
            ids = {found for search in searches for found in search.result()}
            rows = self._store.get(self._store.documents, sorted(ids), ("id", *_FIELDS))
            statistics = replace(self._collection.statistics(), frequencies=frequencies.result())
        snapshot = cast(Snapshot, CandidateSnapshot(_passing(rows, filters), query.terms, statistics))
        config = replace(self.config, candidate_count=count)
        return rank_documents(snapshot, LexicalScorer(snapshot, config), query, None, config)

    def any_passes(self, filters: Filters) -> bool:
        """Say whether any document passes the filters that the server knows."""
        return self._store.count(self._store.documents, _condition(filters, self._roots)) > 0

    def _excerpts(self, ranking: Ranking, places: Sequence[Ranked], request: SearchRequest) -> Excerpts:
        rows = cast(CandidateSnapshot, ranking.snapshot).rows
        shown = [doc_id for place in places for doc_id in (place.doc_id, *place.copies[:MAX_COPIES])]
        ids = [rows[doc_id]["id"] for doc_id in shown]
        found = self._store.get(self._store.documents, ids, ("id", "code"))
        return cast(Excerpts, StoredCode({row["id"]: row["code"] for row in found}))

    def _named(self, names: Sequence[str], condition: str) -> list[str]:
        """Return the ids of documents with these names."""
        parts = [
            f"name_key in {json.dumps([name.lower() for name in names])}",
            *([condition] if condition else []),
        ]
        rows = self._store.read(self._store.documents, " and ".join(parts), ("id",))
        return [row["id"] for row in islice(rows, _MOST_NAMED)]


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
        likes = (f"path like {quoted(_escaped(prefix) + '%')}" for prefix in prefixes)
        parts.append(f"({' or '.join(likes)})")
    return " and ".join(parts)


def _escaped(text: str) -> str:
    """Return the part of a text before the first character that LIKE reads as a wildcard."""
    return text.partition("%")[0]


def _passing(rows: Iterable[dict[str, Any]], filters: Filters) -> list[dict[str, Any]]:
    if not (filters.paths or filters.within):
        return list(rows)
    tests: dict[str, Any] = {}
    return [
        row
        for row in rows
        if tests.setdefault(row["root"], path_filter(filters, Path(row["root"])))(row["path"])
    ]
