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
from codesearch.segments.postings import PostingsReader
from codesearch.segments.topk import distinct

_LONG = 8
"""A term whose lists together hold more than one document in so many is scored over all of them."""


class LexicalScorer:
    """Scores one index."""

    def __init__(self, postings: PostingsReader, config: RankConfig) -> None:
        self._postings = postings
        self._config = config

    def scores(self, terms: Sequence[str]) -> tuple[NDArray[np.float32], float]:
        """Score every document for distinct query terms.

        Returns:
            float32 [N], 0 where no term occurs; and the sum of the idf of the terms that do occur, which is what a
            document would score if it were about nothing else.
        """
        total = np.zeros(self._postings.document_count, dtype=np.float32)
        scratch = np.zeros_like(total)
        ceiling = 0.0
        for term in terms:
            found, df = self._add_weighted_frequencies(term, scratch)
            if df:
                idf = self._idf(df)
                weighted = scratch[found]
                total[found] += np.float32(idf) * weighted / (np.float32(self._config.k1) + weighted)
                scratch[found] = 0
                ceiling += idf
        return total, ceiling

    def _add_weighted_frequencies(
        self, term: str, scratch: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64] | slice, int]:
        """Add tf' of a term to `scratch`, zeros [N]; return where, and the number of documents that have it.

        A long list is told as all documents: what is done to each of many takes less than to find those to leave out.
        """
        lists: list[NDArray[np.int64]] = []
        if (term_id := self._postings.find(term)) is not None:
            kept = self._postings.occurrence_weights(self._config.field_weights, self._config.field_b)
            for field, weights in enumerate(kept):
                doc_ids, frequencies = self._postings.postings(term_id, field)
                if self._config.field_weights[field] and len(doc_ids):
                    lists.append(
                        doc_ids.astype(np.int64)
                    )  # Once: all that indexes is turned into that at each use.
                    scratch[lists[-1]] += weights[lists[-1]] * frequencies
        if sum(map(len, lists)) * _LONG > len(scratch):
            return slice(None), int(np.count_nonzero(scratch))
        found = distinct(np.concatenate(lists)) if lists else np.empty(0, np.int64)
        return found, len(found)

    def _idf(self, df: int) -> float:
        count = self._postings.document_count
        return float(np.log1p((count - df + 0.5) / (df + 0.5)))
