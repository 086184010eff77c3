"""A query and the documents that it may find -> candidates with all their signals -> one ranking.

    score = semantic_weight * similarity * length_prior
            + lexical_weight * BM25F / sum of idf + name_weight * exact name
            + what `heuristics` adds

    similarity = cosine + passage_weight * max(0, highest cosine of a passage - cosine)

The length prior is terms / (terms + length_prior_half), with the number of terms in a function's body. The vector of a
stub or of a function that only calls another comes from few words. It is near many queries by chance.

A BM25F score is always lower than the sum of the idf of the query's terms. Division by this sum makes scores of
different queries and indexes comparable. Division by the best score of the query would not.

Equal scores are ordered by path, root and line, so a ranking is the same after any history of updates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.exact import ExactText
from codesearch.search.forms import joined_names, parse_asked
from codesearch.search.lexical import Pool
from codesearch.search.literals import Literal
from codesearch.search.lookup import (
    SPELLED_OUT,
    documents_at,
    documents_misspelt,
    documents_named,
    types_of_members,
    with_names,
)
from codesearch.store.snapshot import DocIds, Snapshot
from codesearch.store.sorting import distinct
from codesearch.text.terms import FIELDS
from codesearch.types import HEADER_KINDS, KINDS

_BODY = FIELDS.index("body")
_IS_HEADER = np.array([kind in HEADER_KINDS for kind in KINDS])
_USUAL_TERMS = 30


@dataclass(frozen=True, slots=True)
class Report:
    """What a report says."""

    title: str  # Its first line with words, or the first sentence of that.
    text: str  # All of it without the comments, check boxes and headings of a template.
    names: Sequence[str]  # The parts of names that are written as code, without repetitions.
    places: Sequence[tuple[str, int]]  # Paths and lines, 0 for none; a traceback innermost first.
    literals: Sequence[Literal]  # The text of an error, to be found in the sources.
    error: str  # That text.


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query as terms and a vector. Without terms, keywords find nothing; without a vector, vectors find nothing."""

    text: str  # The query if it is in words; "" if it is code, because the words of code ask for nothing.
    terms: Sequence[str]
    vector: NDArray[np.float32] | None
    pasted: bool = False  # Whether the query is a piece of code.
    literals: Sequence[Literal] = ()  # The texts that the query may quote.
    message: str = ""  # What a program may have printed.
    exact: ExactText | None = None  # Where an exact text stands; only its documents are ranked.
    report: Report | None = None  # What a report says about the code; the other fields are then of its title.

    @property
    def words(self) -> str:
        """All of a report, else the text."""
        return self.report.text if self.report else self.text


def propose(pool: Pool, query: AnalysedQuery, config: RankConfig) -> Ranking:
    """Return the best allowed documents by keywords and by vectors with all their signals, not yet scored.

    The signal `name` is 1 if the query is the document's name, `OTHER_SPELLING` if only case or underscores differ,
    .2 if the words of the query make the name ("zip file" and `ZipFile`) or few letters or only the names around it
    differ, else 0. A query in lower case matches any case. The type of a member that the query names has
    `OTHER_SPELLING`. The signal `path` is above 0 if the query is the path of the document's file.
    """
    documents, allowed, count = pool.documents, pool.allowed, config.candidate_count
    bm25, ceiling, missing = pool.lexical.scores(query.terms)
    if allowed is not None:
        bm25 = bm25 * allowed
    asked, joined = parse_asked(query.text), joined_names(query.text)
    named = (
        dict.fromkeys(with_names(documents, joined, allowed), SPELLED_OUT)
        or documents_named(documents, asked, allowed)
        or types_of_members(documents, asked, allowed)
        or documents_misspelt(documents, asked, allowed)
    )
    at_path = documents_at(documents, asked, allowed)
    scored = np.flatnonzero(bm25 > 0)
    others = np.array([*named, *at_path, *pool.literal], dtype=np.int64)
    parts = [documents.best(scored, bm25[scored], count), others]
    if query.vector is not None:
        parts.append(documents.nearest(query.vector, count, allowed, config.hnsw_ef_search))
        parts.append(documents.nearest_passages(query.vector, count // 2, allowed, config.hnsw_ef_search))
    doc_ids = distinct(np.concatenate(parts))
    rows = documents.rows(doc_ids)
    nothing = np.zeros(len(doc_ids), dtype=np.float32)
    cosine = passage = nothing
    if query.vector is not None:
        cosine = documents.similarities(query.vector, doc_ids)
        passage = np.maximum(cosine, documents.passage_similarities(query.vector, doc_ids))
    covered = pool.lexical.covered[doc_ids]
    in_passage = documents.passage_coverage(pool.lexical.idf, doc_ids)
    window = np.where(in_passage < 0, covered, np.minimum(in_passage, covered)) / np.float32(ceiling or 1.0)
    signals = {
        "cosine": cosine,
        "passage": passage,
        "window": np.asarray(window, np.float32),
        "length_prior": _length_prior(
            documents.field_lengths(doc_ids, _BODY), rows["kind"], config.length_prior_half
        ),
        "bm25": bm25[doc_ids],
        "bm25_normalised": bm25[doc_ids] / np.float32(ceiling or 1.0),
        "name": _values(doc_ids, named),
        "path": _values(doc_ids, at_path),
        "literal": _values(doc_ids, dict.fromkeys(pool.literal, 1.0)),
    }
    return Ranking(
        documents,
        doc_ids,
        rows,
        signals,
        nothing,
        missing=missing,
        idf=pool.lexical.idf,
        literal=pool.literal,
    )


def _values(doc_ids: NDArray[np.int64], found: Mapping[int, float]) -> NDArray[np.float32]:
    """Return the values of documents, 0 for those that were not found: float32 [C]."""
    values = np.zeros(len(doc_ids), dtype=np.float32)
    values[np.searchsorted(doc_ids, list(found))] = list(found.values())
    return values


def _length_prior(terms: NDArray[np.uint16], kinds: NDArray[np.uint16], half: float) -> NDArray[np.float32]:
    """Return n / (n + half) for documents with n terms in their bodies: float32 [C].

    The document of a class, interface, enum, struct or trait is only its header, which is always short. So its body
    counts as `_USUAL_TERMS` terms.
    """
    counted = np.where(_IS_HEADER[kinds], np.float32(_USUAL_TERMS), terms)
    if half == 0:
        return np.ones_like(counted)
    return np.asarray(counted / (counted + np.float32(half)), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document of a ranking with its score and the value of each signal."""

    doc_id: int
    score: float
    signals: dict[str, float]
    parts: dict[str, float] = field(default_factory=dict)  # Their sum is the score.
    copies: tuple[int, ...] = ()  # The other documents with the same code (see `codesearch.search.screen`).
    others: tuple[Candidate, ...] = ()  # Other definitions of the same file, if files are ranked.


@dataclass(slots=True)
class Ranking:
    """The candidates of a query, ordered by their scores; every array is [C].

    `missing` is the share of the idf of the query's terms that belongs to terms that occur nowhere, 0 to 1.
    """

    documents: Snapshot
    doc_ids: DocIds  # Ascending.
    rows: NDArray[Any]  # The numbers of the documents (see `Snapshot.rows`).
    signals: dict[str, NDArray[np.float32]]  # Before weighting. `docs/output.md` lists them.
    scores: NDArray[np.float32]
    parts: dict[str, NDArray[np.float32]] = field(default_factory=dict)  # The contributions to the scores.
    missing: float = 0.0
    idf: Mapping[str, float] = field(default_factory=dict)  # Of the query's terms that occur.
    literal: Mapping[int, int] = field(default_factory=dict)  # That of the pool.
    of_title: Ranking | None = None  # The ranking of the title alone, if the query is a report.
    _ordered: tuple[NDArray[np.float32], NDArray[np.intp]] | None = None

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
        own = np.asarray(values, np.float32) + np.float32(0)  # This turns -0, which would be shown, into 0.
        self.signals[name] = np.zeros(len(self.scores), np.float32)
        self.signals[name][positions] = own
        if own.any():
            self.parts[name] = np.zeros(len(self.scores), np.float32)
            self.parts[name][positions] = np.where(own > 0, np.float32(reward), np.float32(penalty)) * own
            self.scores = self.scores + self.parts[name]

    def converts_as_asked(self) -> bool:
        """Say whether a document with the highest score clearly converts in the direction that the query asks for."""
        direction = self.signals.get("direction")
        if direction is None or not len(direction):
            return False
        return bool(np.any(direction[self.scores == self.scores.max()] >= 1))

    def best(self, count: int) -> list[Candidate]:
        """Return the `count` best candidates, best first."""
        return self.candidates(self.order()[:count])

    def candidates(self, positions: NDArray[np.intp]) -> list[Candidate]:
        """Return the candidates at some positions of the arrays."""
        return list(
            map(
                Candidate,
                self.doc_ids[positions].tolist(),
                self.scores[positions].tolist(),
                _records(self.signals, positions),
                _records(self.parts, positions),
            )
        )


def _records(
    arrays: Mapping[str, NDArray[np.float32]], positions: NDArray[np.intp]
) -> Iterable[dict[str, float]]:
    """Return the values of arrays at each of some positions."""
    columns = [values[positions].tolist() for values in arrays.values()]
    return [dict(zip(arrays, values, strict=True)) for values in zip(*columns, strict=True)] or repeat({})


def fuse(ranking: Ranking, config: RankConfig) -> None:
    """Score all candidates by the weighted sum of their signals."""
    signals = ranking.signals
    cosine, passage = signals["cosine"], signals["passage"]
    similarity = cosine + config.passage_weight * (passage - cosine)
    ranking.parts = {
        "vectors": np.float32(config.semantic_weight) * similarity * signals["length_prior"],
        "keywords": config.lexical_weight * signals["bm25_normalised"],
        "window": config.window_weight * signals["window"],
        "name": config.name_weight * signals["name"],
    }
    ranking.scores = np.asarray(sum(ranking.parts.values()), dtype=np.float32)
