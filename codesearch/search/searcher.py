"""A query, top to bottom: analyse -> candidates of both halves -> fuse -> rerank -> hydrate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig, VectorConfig
from codesearch.encoding.encoder import Encoder
from codesearch.errors import ConfigError
from codesearch.index.analysis import query_terms
from codesearch.index.reader import IndexReader
from codesearch.search.candidates import AnalysedQuery, gather
from codesearch.search.filters import Filters, allowed_documents
from codesearch.search.fusion import Pool, Ranked, fuse
from codesearch.search.hydrate import hydrate
from codesearch.search.larger import SecondCosines, add_larger
from codesearch.search.lexical import LexicalScorer
from codesearch.search.rerank import rerank
from codesearch.types import Hit

MODES = ("hybrid", "lexical", "semantic")


class Searcher:
    """Answers queries over one or more open indexes made with the same model."""

    def __init__(
        self,
        indexes: Sequence[IndexReader],
        encoder: Encoder | None,
        config: RankConfig | None = None,
        vectors: VectorConfig | None = None,
        larger: SecondCosines | None = None,
    ) -> None:
        """Open.

        Args:
            indexes: what to search.
            encoder: embeds queries; None allows mode "lexical" only.
            config: weights.
            vectors: how vectors are searched.
            larger: gives the head of a ranking second cosines, where it has vectors.

        Raises:
            ConfigError: an index was made with another model than `encoder`.
        """
        self.indexes = list(indexes)
        self.encoder = encoder
        self.config = config or RankConfig()
        self.vector_config = vectors or VectorConfig()
        self.larger = larger
        for index in self.indexes:
            made_with = index.manifest.model
            if encoder and made_with["id"] != encoder.model_id:
                raise ConfigError(
                    f"{index.root} was indexed with model {made_with['name']} ({made_with['id']}), not with "
                    f"{encoder.name} ({encoder.model_id}): run `codesearch index {index.root}` again"
                )

    def search(
        self, query: str, top_k: int = 10, filters: Filters | None = None, mode: str = "hybrid"
    ) -> list[Hit]:
        """Return the best `top_k` documents for a query, best first.

        Raises:
            ConfigError: the query has no words, or the mode is unknown.
        """
        return hydrate(self.indexes, self.rank(query, top_k, filters, mode))

    def rank(
        self, query: str, top_k: int, filters: Filters | None = None, mode: str = "hybrid"
    ) -> list[Ranked]:
        """Return the places of the best `top_k` documents, best first.

        Raises:
            ConfigError: the query has no words, or the mode is unknown.
        """
        return self.pool(self._analyse(query, mode), filters).ranked(top_k)

    def pool(self, query: AnalysedQuery, filters: Filters | None = None) -> Pool:
        """Gather, fuse and rerank the documents that compete for an analysed query."""
        candidates = [
            gather(
                number,
                index,
                self._lexical[number],
                query,
                allowed=allowed_documents(filters or Filters(), index),
                count=self.config.candidate_count,
                half_evidence=self.config.half_evidence,
                vectors=self.vector_config,
            )
            for number, index in enumerate(self.indexes)
        ]
        pool = fuse(candidates, self.config)
        if self.larger and query.text and query.vector is not None:
            add_larger(query.text, pool, self.indexes, self.larger, self.config)
        rerank(query.text, pool, self.indexes, self.config)
        return pool

    @cached_property
    def _lexical(self) -> list[LexicalScorer]:
        return [LexicalScorer(index.postings, self.config) for index in self.indexes]

    def _analyse(self, query: str, mode: str) -> AnalysedQuery:
        if mode not in MODES:
            raise ConfigError(f"mode {mode!r}: choose one of {', '.join(MODES)}")
        terms = query_terms(query)
        if not terms:
            raise ConfigError(f"query {query!r} has no words to search for")
        return AnalysedQuery(
            text=query,
            terms=terms if mode != "semantic" else (),
            vector=self._query_vector(query) if mode != "lexical" else None,
        )

    def _query_vector(self, query: str) -> NDArray[np.float32] | None:
        if self.encoder is None:
            raise ConfigError("no model is loaded: only mode lexical can answer")
        vector = self.encoder.encode_queries([query])[0]
        return vector if vector.any() else None
