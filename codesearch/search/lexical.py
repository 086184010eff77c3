"""BM25F over the fields of documents.

A term's frequencies are summed over fields, each weighted and discounted by its field's length, and only then
saturated:

    tf'(t, d) = sum over f of  w_f * tf_f(t, d) / (1 - b_f + b_f * length_f(d) / average_length_f)
    score(d)  = sum over t of  idf(t) * tf'(t, d) / (k1 + tf'(t, d)),  idf(t) = ln(1 + (N - df + .5) / (df + .5))

Source: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.segments.postings import PostingsReader
from codesearch.segments.topk import distinct

_LONG = 8
"""A term whose lists together hold more than one document in so many is scored over all of them."""


class HasPostings(Protocol):
    """A segment."""

    @property
    def postings(self) -> PostingsReader: ...  # noqa: D102


class Corpus(Protocol):
    """What is scored: see `codesearch.index.snapshot.Snapshot`."""

    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def document_count(self) -> int: ...  # noqa: D102
    @property
    def average_lengths(self) -> NDArray[np.float64]: ...  # noqa: D102
    @property
    def dead(self) -> NDArray[np.bool_] | None: ...  # noqa: D102
    def based_segments(self) -> Iterator[tuple[int, HasPostings]]:
        """Yield each segment after the doc_id of its first document."""
        ...


class LexicalScorer:
    """Scores the documents of a corpus."""

    def __init__(self, snapshot: Corpus, config: RankConfig) -> None:
        self._snapshot = snapshot
        self._config = config

    def scores(self, terms: Sequence[str]) -> tuple[NDArray[np.float32], float]:
        """Score every document for distinct query terms.

        Returns:
            float32 [size], 0 where no term occurs and for dead documents; and the sum of the idf of the terms that do
            occur, the limit of a document's score.
        """
        total = np.zeros(self._snapshot.size, dtype=np.float32)
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
        """Add tf' of a term to `scratch`, zeros [size]; return where, and the number of live documents that have it.

        For a long list, "where" is everywhere: to compute all documents takes less than to find those to leave out.
        """
        lists: list[NDArray[np.int64]] = []
        for base, segment in self._snapshot.based_segments():
            postings = segment.postings
            if (term_id := postings.find(term)) is None:
                continue
            weights = postings.occurrence_weights(
                self._config.field_weights, self._config.field_b, self._snapshot.average_lengths
            )
            for field, doc_ids, frequencies in postings.by_field(term_id):
                if self._config.field_weights[field]:
                    local = doc_ids.astype(np.int64)  # Convert once; numpy would convert on every indexing.
                    lists.append(local + base if base else local)
                    scratch[lists[-1]] += weights[field][local] * frequencies
        dead = self._snapshot.dead
        if sum(map(len, lists)) * _LONG > len(scratch):
            if dead is not None:
                scratch[dead] = 0
            return slice(None), int(np.count_nonzero(scratch))
        found = distinct(np.concatenate(lists)) if lists else np.empty(0, np.int64)
        if dead is not None:
            scratch[found[dead[found]]] = 0
            found = found[~dead[found]]
        return found, len(found)

    def _idf(self, df: int) -> float:
        count = self._snapshot.document_count
        return float(np.log1p((count - df + 0.5) / (df + 0.5)))
