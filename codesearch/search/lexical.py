"""BM25F over the fields of documents.

A term's frequencies are summed over fields, each weighted and discounted by its field's length, and only then
saturated:

    tf'(t, d) = sum over f of  w_f * tf_f(t, d) / (1 - b_f + b_f * length_f(d) / average_length_f)
    score(d)  = sum over t of  idf(t) * tf'(t, d) / (k1 + tf'(t, d)),  idf(t) = ln(1 + (N - df + .5) / (df + .5))

Source: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.index.postings import PostingsReader


class LexicalScorer:
    """Scores one index."""

    def __init__(self, postings: PostingsReader, config: RankConfig) -> None:
        self._postings = postings
        self._config = config
        self._average_length = postings.average_lengths

    def scores(self, terms: Sequence[str]) -> tuple[NDArray[np.float32], float]:
        """Score every document for distinct query terms.

        Returns:
            float32 [N], 0 where no term occurs; and the sum of the idf of the terms that do occur, which is what a
            document would score if it were about nothing else.
        """
        total = np.zeros(self._postings.document_count, dtype=np.float32)
        scratch = np.zeros(self._postings.document_count, dtype=np.float64)
        ceiling = 0.0
        for term in terms:
            docs, weighted = self._weighted_frequencies(term, scratch)
            if len(docs):
                idf = self._idf(len(docs))
                total[docs] += idf * weighted / (self._config.k1 + weighted)
                ceiling += idf
        return total, ceiling

    def _weighted_frequencies(
        self, term: str, scratch: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the documents that have a term, ascending, and tf' in each; `scratch`, zeros [N], is so again."""
        term_id = self._postings.find(term)
        if term_id is None:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        for field, (weight, b) in enumerate(
            zip(self._config.field_weights, self._config.field_b, strict=True)
        ):
            docs, frequencies = self._postings.postings(term_id, field)
            if weight and len(docs):
                docs = docs.astype(np.int64)  # Once: whatever else indexes is turned into that at each use.
                length = self._postings.field_lengths[docs, field] / self._average_length[field]
                scratch[docs] += weight * frequencies / (1 - b + b * length)
        found = np.flatnonzero(scratch > 0)
        weighted = scratch[found].astype(np.float32)
        scratch[found] = 0
        return found, weighted

    def _idf(self, df: int) -> float:
        count = self._postings.document_count
        return float(np.log1p((count - df + 0.5) / (df + 0.5)))
