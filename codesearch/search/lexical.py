"""BM25F over the fields of documents.

The frequencies of a term are weighted, divided by a norm of the field's length, and summed over fields. Saturation
applies to the sum:

    tf'(t, d) = sum over f of  w_f * tf_f(t, d) / (1 - b_f + b_f * length_f(d) / average_length_f)
    score(d)  = sum over t of  idf(t) * tf'(t, d) / (k1 + tf'(t, d)),  idf(t) = ln(1 + (N - df + .5) / (df + .5))

Source: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.store.snapshot import Snapshot
from codesearch.store.topk import distinct

_LONG = 8
"""A term with postings for more than one in this many documents is scored over all documents."""


class LexicalScorer:
    """Scores the documents of a snapshot."""

    def __init__(
        self, snapshot: Snapshot, config: RankConfig, document_frequencies: Mapping[str, int] | None = None
    ) -> None:
        """Set what is scored."""
        self._snapshot = snapshot
        self._document_frequencies = document_frequencies or {}
        self._config = config
        self._last: tuple[tuple[str, ...], tuple[NDArray[np.float32], float, float]] | None = None

    def scores(self, terms: Sequence[str]) -> tuple[NDArray[np.float32], float, float]:
        """Score every document for distinct query terms; the last result is kept, so its array cannot be written.

        Returns:
            The scores, float32 [size], 0 for dead documents and documents without any of the terms; and the limit of a
            score, which is the sum of the idf of the terms that occur; and the share of the sum of all idf, 0 to 1,
            that belongs to terms that occur in no document.
        """
        if self._last and self._last[0] == tuple(terms):
            return self._last[1]
        total = np.zeros(self._snapshot.size, dtype=np.float32)
        scratch = np.zeros_like(total)
        ceiling = missing = 0.0
        for term in terms:
            found, here = self._add_weighted_frequencies(term, scratch)
            if df := max(here, self._document_frequencies.get(term, 0)):
                idf = self._idf(df)
                weighted = scratch[found]
                total[found] += np.float32(idf) * weighted / (np.float32(self._config.k1) + weighted)
                scratch[found] = 0
                ceiling += idf
            else:
                missing += self._idf(0)
        total.flags.writeable = False
        self._last = tuple(terms), (total, ceiling, missing / (ceiling + missing or 1.0))
        return self._last[1]

    def with_all(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """Return the live documents that have all of some terms, ascending: int64; none for no terms.

        The first document of a file also counts as having words that are in none of its documents.
        """
        parts = [np.empty(0, np.int64)]
        for base, postings in self._snapshot.based_postings():
            term_ids = [postings.find(term) for term in terms]
            if terms and None not in term_ids:
                lists = [
                    [doc_ids for _, doc_ids, _ in postings.by_field(term_id)]
                    for term_id in term_ids
                    if term_id is not None
                ]
                parts.append(_in_all(sorted(lists, key=lambda fields: sum(map(len, fields)))) + base)
        found = np.concatenate(parts)
        return found if self._snapshot.dead is None else found[~self._snapshot.dead[found]]

    def _add_weighted_frequencies(
        self, term: str, scratch: NDArray[np.float32]
    ) -> tuple[NDArray[np.int64] | slice, int]:
        """Add tf' of a term to `scratch`, zeros [size]; return the positions and the number of live documents with it.

        For long lists, the positions are all positions. Scoring all documents is then faster than selecting some.
        """
        lists: list[NDArray[np.int64]] = []
        for base, postings in self._snapshot.based_postings():
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
        found = found[scratch[found] > 0]  # A word outside of documents has frequency 0.
        if dead is not None:
            scratch[found[dead[found]]] = 0
            found = found[~dead[found]]
        return found, len(found)

    def _idf(self, df: int) -> float:
        count = self._snapshot.document_count
        return float(np.log1p((count - df + 0.5) / (df + 0.5)))


def _in_all(lists: Sequence[Sequence[NDArray[np.uint32]]]) -> NDArray[np.int64]:
    """Return the documents that are in some field of each term, ascending; the rarest term comes first."""
    found = distinct(np.concatenate(lists[0]))
    for fields in lists[1:]:
        having = np.zeros(len(found), dtype=bool)
        for doc_ids in fields:
            places = np.searchsorted(doc_ids, found)
            having |= doc_ids[np.minimum(places, len(doc_ids) - 1)] == found
        found = found[having]
    return found.astype(np.int64)
