"""Candidates with their signals -> one ranking.

    score = semantic_weight * cosine * length_prior
            + lexical_weight * BM25F / sum of idf + name_weight * exact name
            + what `heuristics` adds

The length prior is terms / (terms + length_prior_half), with the number of terms in a function's body. The vector of a
stub or of a function that only calls another comes from few words. It is near many queries by chance.

A BM25F score is always lower than the sum of the idf of the query's terms. Division by this sum makes scores of
different queries and indexes comparable. Division by the best score of the query would not.

Equal scores are ordered by path, root and line, so a ranking is the same after any history of updates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.store.snapshot import DocIds, Snapshot


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document of a ranking with its score and the value of each signal.

    Attributes:
        parts: the contribution of each part to the score; their sum is the score.
        copies: the other documents with the same code, if copies are one candidate (see `codesearch.search.screen`).
        others: other definitions of the same file, if files are ranked.
    """

    doc_id: int
    score: float
    signals: dict[str, float]
    parts: dict[str, float] = field(default_factory=dict)
    copies: tuple[int, ...] = ()
    others: tuple[Candidate, ...] = ()


@dataclass(slots=True)
class Ranking:
    """The candidates of a query, ordered by their scores; every array is [C].

    Attributes:
        documents: what was searched.
        doc_ids: ascending.
        signals: name -> float32 [C], before weighting. `docs/output.md` lists them.
        scores: float32 [C].
        parts: name -> float32 [C], the contribution of each part to the scores.
        missing: the share of the idf of the query's terms that belongs to terms that occur nowhere, 0 to 1.
        of_title: the ranking of the title alone, if the query is a report.
    """

    documents: Snapshot
    doc_ids: DocIds
    signals: dict[str, NDArray[np.float32]]
    scores: NDArray[np.float32]
    parts: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    missing: float = 0.0
    of_title: Ranking | None = None
    _files: DocIds | None = None
    _ordered: tuple[NDArray[np.float32], NDArray[np.intp]] | None = None

    def files(self) -> DocIds:
        """Return a number for each candidate that is equal only for documents of the same file: int64 [C]."""
        if self._files is None:
            self._files = self.documents.file_numbers(self.doc_ids)
        return self._files

    def order(self) -> NDArray[np.intp]:
        """Return the positions by score, highest first; ties by path, root and line."""
        # Scores never change in place, so the order is valid as long as the array is the same object.
        if self._ordered is None or self._ordered[0] is not self.scores:
            self._ordered = self.scores, self.documents.order(self.doc_ids, self.scores)
        return self._ordered[1]

    def add_signal(
        self,
        name: str,
        positions: NDArray[np.intp],
        values: Sequence[float] | NDArray[np.floating],
        *,
        reward: float = 0.0,
        penalty: float = 0.0,
    ) -> None:
        """Add a signal in [-1, 1] for some candidates; the others get 0.

        Positive values are weighted by `reward`, negative values by `penalty`.
        """
        signal = np.zeros(len(self.scores), dtype=np.float32)
        signal[positions] = np.asarray(values) + 0.0  # Adding 0 turns -0, which would be shown, into 0.
        self.signals[name] = signal
        if signal.any():
            weights = np.where(signal > 0, np.float32(reward), np.float32(penalty))
            self.parts[name] = weights * signal
            self.scores = (self.scores + self.parts[name]).astype(np.float32)

    def converts_as_asked(self) -> bool:
        """Say whether a document with the highest score clearly converts in the direction that the query asks for."""
        direction = self.signals.get("direction")
        if direction is None or not len(direction):
            return False
        return bool(np.any(direction[self.scores == self.scores.max()] >= 1))

    def best(self, count: int) -> list[Candidate]:
        """Return the `count` best candidates, best first."""
        return [self.candidate(position) for position in self.order()[:count].tolist()]

    def candidate(self, position: int) -> Candidate:
        """Return the candidate at a position of the arrays."""
        return Candidate(
            doc_id=int(self.doc_ids[position]),
            score=float(self.scores[position]),
            signals={name: float(values[position]) for name, values in self.signals.items()},
            parts={name: float(values[position]) for name, values in self.parts.items()},
        )


def fuse(ranking: Ranking, config: RankConfig) -> None:
    """Score all candidates by the weighted sum of their signals."""
    signals = ranking.signals
    ranking.parts = {
        "vectors": config.semantic_weight * signals["cosine"] * signals["length_prior"],
        "keywords": config.lexical_weight * signals["bm25_normalised"],
        "name": config.name_weight * signals["name"],
    }
    vectors, keywords, name = ranking.parts.values()
    ranking.scores = np.asarray(vectors + keywords + name, dtype=np.float32)
