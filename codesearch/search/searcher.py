"""A query, top to bottom: analyse -> lexical -> semantic -> fuse -> hydrate.

    score = semantic_weight * cosine + lexical_weight * BM25F / best BM25F + name_weight * exact name

Each half puts its best documents forward; every candidate then gets all signals, exactly. Ties go to the
earlier root and then to the smaller doc_id, so a ranking never depends on chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig, VectorConfig
from codesearch.encoding.encoder import Encoder
from codesearch.errors import ConfigError
from codesearch.index.analysis import query_terms
from codesearch.index.reader import IndexReader
from codesearch.search.filters import Filters, allowed_documents
from codesearch.search.hydrate import hydrate
from codesearch.search.lexical import LexicalScorer
from codesearch.types import Hit

MODES = ("hybrid", "lexical", "semantic")


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents of one index that compete, with their signals.

    Attributes:
        doc_ids: int64 [C], ascending.
        bm25: float32 [C], not normalised.
        cosine: float32 [C].
        name: float32 [C], 1 where the query is the document's name, .5 where all but the case agrees.
    """

    index: int
    doc_ids: NDArray[np.int64]
    bm25: NDArray[np.float32]
    cosine: NDArray[np.float32]
    name: NDArray[np.float32]


class Searcher:
    """Answers queries over one or more open indexes made with the same model."""

    def __init__(
        self,
        indexes: Sequence[IndexReader],
        encoder: Encoder | None,
        config: RankConfig | None = None,
        vectors: VectorConfig | None = None,
    ) -> None:
        """Open.

        Args:
            indexes: what to search.
            encoder: embeds queries; None allows mode "lexical" only.
            config: weights.
            vectors: how vectors are searched.

        Raises:
            ConfigError: an index was made with another model than `encoder`.
        """
        self.indexes = list(indexes)
        self.encoder = encoder
        self.config = config or RankConfig()
        self.vector_config = vectors or VectorConfig()
        for index in self.indexes:
            made_with = index.manifest.model
            if encoder and made_with["id"] != encoder.model_id:
                raise ConfigError(
                    f"{index.root} was indexed with model {made_with['name']} ({made_with['id']}), the query uses "
                    f"{encoder.name} ({encoder.model_id}): run `codesearch index {index.root}` again"
                )

    def search(
        self, query: str, top_k: int = 10, filters: Filters | None = None, mode: str = "hybrid"
    ) -> list[Hit]:
        """Return the best `top_k` documents for a query, best first.

        Raises:
            ConfigError: the query has no words, or the mode is unknown.
        """
        ranked = self.rank(query, top_k, filters, mode)
        return hydrate(self.indexes, ranked)

    def rank(
        self, query: str, top_k: int, filters: Filters | None = None, mode: str = "hybrid"
    ) -> list[tuple[int, int, float, dict[str, float]]]:
        """Return (index, doc_id, score, signals) of the best `top_k`, best first."""
        if mode not in MODES:
            raise ConfigError(f"mode {mode!r}: choose one of {', '.join(MODES)}")
        terms = query_terms(query)
        if not terms:
            raise ConfigError(f"query {query!r} has no words to search for")
        vector = self._query_vector(query) if mode != "lexical" else None
        pools = [
            self._candidates(number, query, terms if mode != "semantic" else [], vector, filters or Filters())
            for number in range(len(self.indexes))
        ]
        return fuse(pools, self.config)[:top_k]

    @cached_property
    def _lexical(self) -> list[LexicalScorer]:
        return [LexicalScorer(index.postings, self.config) for index in self.indexes]

    def _query_vector(self, query: str) -> NDArray[np.float32] | None:
        if self.encoder is None:
            raise ConfigError("no model is loaded: only mode lexical can answer")
        vector = self.encoder.encode_queries([query])[0]
        return vector if vector.any() else None

    def _candidates(
        self,
        number: int,
        query: str,
        terms: Sequence[str],
        vector: NDArray[np.float32] | None,
        filters: Filters,
    ) -> Candidates:
        index = self.indexes[number]
        allowed = allowed_documents(filters, index)
        bm25 = self._lexical[number].scores(terms)
        if allowed is not None:
            bm25[~allowed] = 0
        named = self._named(index, query, allowed)
        lexical = _best(bm25, self.config.candidate_count)
        doc_ids = [lexical[bm25[lexical] > 0], np.array(list(named), dtype=np.int64)]
        if vector is not None:
            doc_ids.append(self._nearest(index, vector, allowed))
        pool = np.unique(np.concatenate(doc_ids))
        cosine = (
            index.vectors.similarities(vector, pool)
            if vector is not None
            else np.zeros(len(pool), np.float32)
        )
        name = np.array([named.get(int(doc_id), 0.0) for doc_id in pool], dtype=np.float32)
        return Candidates(number, pool, bm25[pool], cosine, name)

    def _nearest(
        self, index: IndexReader, vector: NDArray[np.float32], allowed: NDArray[np.bool_] | None
    ) -> NDArray[np.int64]:
        count = self.config.candidate_count
        if allowed is not None:  # The graph cannot filter first, so the allowed ones are scanned.
            doc_ids = np.flatnonzero(allowed)
            return doc_ids[_best(index.vectors.similarities(vector, doc_ids), count)]
        if index.vectors.has_graph:
            return index.vectors.neighbours(vector, count, self.vector_config)
        return _best(index.vectors.similarities(vector), count)

    def _named(self, index: IndexReader, query: str, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
        """Find the documents whose name, qualified or not, is the query."""
        wanted = query.strip().removesuffix("()")
        if not wanted or any(character.isspace() for character in wanted):
            return {}
        name = wanted.replace("::", ".").replace("#", ".").rpartition(".")[2]
        found = {}
        for doc_id, exact, qualified in index.store.documents_named(name):
            if allowed is not None and not allowed[doc_id]:
                continue
            if name != wanted and not qualified.replace("::", ".").lower().endswith(
                wanted.replace("::", ".").replace("#", ".").lower()
            ):
                continue
            found[doc_id] = 1.0 if exact == name else 0.5
        return found


def fuse(pools: Sequence[Candidates], config: RankConfig) -> list[tuple[int, int, float, dict[str, float]]]:
    """Merge candidates of all indexes: (index, doc_id, score, signals), by (-score, index, doc_id)."""
    best = max((float(pool.bm25.max(initial=0.0)) for pool in pools), default=0.0) or 1.0
    merged = []
    for pool in pools:
        bm25 = pool.bm25 / np.float32(best)
        score = (
            config.semantic_weight * pool.cosine
            + config.lexical_weight * bm25
            + config.name_weight * pool.name
        )
        for position in range(len(pool.doc_ids)):
            signals = {
                "cosine": float(pool.cosine[position]),
                "bm25": float(pool.bm25[position]),
                "bm25_normalised": float(bm25[position]),
                "name": float(pool.name[position]),
            }
            merged.append((pool.index, int(pool.doc_ids[position]), float(score[position]), signals))
    merged.sort(key=lambda entry: (-entry[2], entry[0], entry[1]))
    return merged


def _best(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the positions of the `count` highest scores; among equals at the edge, the lowest positions."""
    if len(scores) <= count:
        return np.arange(len(scores), dtype=np.int64)
    edge = np.partition(scores, len(scores) - count)[len(scores) - count]
    above = np.flatnonzero(scores > edge)
    level = np.flatnonzero(scores == edge)[: count - len(above)]
    return np.concatenate([above, level])
