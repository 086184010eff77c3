"""BM25F over the fields of documents.

The frequencies of a term are weighted, divided by a norm of the field's length, and summed over fields. Saturation
applies to the sum:

    tf'(t, d) = sum over f of  w_f * tf_f(t, d) / (1 - b_f + b_f * length_f(d) / average_length_f)
    score(d)  = sum over t of  idf(t) * tf'(t, d) / (k1 + tf'(t, d)),  idf(t) = ln(1 + (N - df + .5) / (df + .5))

Source: Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple weighted fields", CIKM 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.store.snapshot import DocIds, Snapshot
from codesearch.store.sorting import distinct

_LONG = 50
"""If one in so many documents has a term, looking at all documents is faster than sorting its postings."""


class LexicalScorer:
    """Scores the documents of a snapshot."""

    def __init__(
        self, snapshot: Snapshot, config: RankConfig, document_frequencies: Mapping[str, int] | None = None
    ) -> None:
        """Set what is scored."""
        self._snapshot = snapshot
        self._document_frequencies = document_frequencies or {}
        self._config = config
        self.idf: dict[str, float] = {}  # Of the terms of the last query that occur.
        self._last: tuple[tuple[str, ...], tuple[NDArray[np.float32], float, float]] | None = None
        self.covered = np.zeros(0, dtype=np.float32)  # Sum of their idf that each document has: [size].

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
        missing = 0.0
        self.idf, self.covered = {}, np.zeros_like(total)
        for term in terms:
            found = self._add_weighted_frequencies(term, scratch)
            if df := max(len(found), self._document_frequencies.get(term, 0)):
                idf = self._idf(df)
                weighted = scratch[found]
                total[found] += np.float32(idf) * weighted / (np.float32(self._config.k1) + weighted)
                scratch[found] = 0
                self.idf[term] = idf
                self.covered[found] += np.float32(idf)
            else:
                missing += self._idf(0)
        total.flags.writeable = False
        ceiling = sum(self.idf.values())
        self._last = tuple(terms), (total, ceiling, missing / (ceiling + missing or 1.0))
        return self._last[1]

    def with_all(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """Return the live documents that have all of some terms, ascending: int64; none for no terms."""
        parts = [np.empty(0, np.int64)]
        for base, postings in self._snapshot.based_postings():
            term_ids = [postings.find(term) for term in terms]
            known = [term_id for term_id in term_ids if term_id is not None]
            if known and len(known) == len(terms):
                rarest, *others = sorted((postings.of_term(term_id)[1] for term_id in known), key=len)
                own = distinct(rarest.astype(np.int64))
                for doc_ids in others:
                    having = np.zeros(len(postings.field_lengths), dtype=bool)
                    having[doc_ids] = True
                    own = own[having[own]]
                parts.append(own + base)
        found = np.concatenate(parts)
        return found if self._snapshot.dead is None else found[~self._snapshot.dead[found]]

    def _add_weighted_frequencies(self, term: str, scratch: NDArray[np.float32]) -> NDArray[np.int64]:
        """Add tf' of a term to `scratch`, zeros [size]; return the live documents with it, ascending."""
        lists = [np.empty(0, np.int64)]
        for base, postings in self._snapshot.based_postings():
            if (term_id := postings.find(term)) is None:
                continue
            weights = postings.occurrence_weights(
                self._config.field_weights, self._config.field_b, self._snapshot.average_lengths
            )
            fields, doc_ids, frequencies = postings.of_term(term_id)
            local = doc_ids.astype(np.int64)  # Convert once; numpy would convert on every indexing.
            # Two indices would take twice as long as one.
            weighted = weights.ravel()[fields * weights.shape[1] + local] * frequencies
            lists.append(local + base if base else local)
            np.add.at(scratch, lists[-1], weighted)
        if sum(map(len, lists)) * _LONG > len(scratch):
            found = (scratch > 0).nonzero()[0]
        else:
            found = distinct(np.concatenate(lists))
            found = found[scratch[found] > 0]  # A field may have no weight.
        if (dead := self._snapshot.dead) is not None:
            scratch[found[dead[found]]] = 0
            found = found[~dead[found]]
        return found

    def _idf(self, df: int) -> float:
        count = self._snapshot.document_count
        return float(np.log1p((count - df + 0.5) / (df + 0.5)))


@dataclass(frozen=True, slots=True)
class Pool:
    """The documents that a query may find."""

    documents: Snapshot
    lexical: LexicalScorer
    allowed: NDArray[np.bool_] | None = None  # bool [size], or None if all documents are allowed.
    # Allowed documents in which the query stands literally, and the first line there.
    literal: Mapping[int, int] = field(default_factory=dict)

    def passing(self, doc_ids: DocIds) -> DocIds:
        """Return those of some documents that are allowed."""
        return doc_ids if self.allowed is None else doc_ids[self.allowed[doc_ids]]

    def best(self, terms: Sequence[str], count: int) -> tuple[DocIds, NDArray[np.float32]]:
        """Return the `count` best allowed documents by keywords, in no order, and their scores."""
        scores, _, _ = self.lexical.scores(terms)
        doc_ids = self.passing(np.flatnonzero(scores))
        doc_ids = self.documents.best(doc_ids, scores[doc_ids], count)
        return doc_ids, scores[doc_ids]
