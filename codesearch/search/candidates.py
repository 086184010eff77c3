"""A query and the documents that it may find -> the candidates, each with all its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.forms import joined_names, parse_asked
from codesearch.search.lexical import LexicalScorer
from codesearch.search.literals import Literal
from codesearch.search.lookup import documents_at, documents_named, documents_spelled
from codesearch.search.ranking import Ranking
from codesearch.store.snapshot import Snapshot
from codesearch.store.topk import distinct
from codesearch.text.terms import FIELDS
from codesearch.types import HEADER_KINDS, KINDS

if TYPE_CHECKING:
    from codesearch.search.report import Report

_BODY = FIELDS.index("body")
_HEADERS = [KINDS.index(kind) for kind in KINDS if kind in HEADER_KINDS]
_USUAL_TERMS = 30


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query as terms and a vector. Without terms, keywords find nothing; without a vector, vectors find nothing.

    Attributes:
        text: the query if it is in words; empty if it is code, because the words of code ask for nothing.
        pasted: whether the query is a piece of code.
        literals: the texts that the query may quote.
        exact: the only documents that are ranked, those with an exact text; None for all.
        report: what a report says about the code; the other fields are then of its title.
    """

    text: str
    terms: Sequence[str]
    vector: NDArray[np.float32] | None
    pasted: bool = False
    literals: Sequence[Literal] = ()
    exact: Sequence[int] | None = None
    report: Report | None = None


@dataclass(frozen=True, slots=True)
class Pool:
    """The documents that a query may find.

    Attributes:
        lexical: scores the documents by keywords.
        allowed: bool [size], or None if all documents are allowed.
        literal: allowed documents in which the query stands literally.
    """

    documents: Snapshot
    lexical: LexicalScorer
    allowed: NDArray[np.bool_] | None = None
    literal: Sequence[int] = ()


def propose(pool: Pool, query: AnalysedQuery, config: RankConfig) -> Ranking:
    """Return the best allowed documents by keywords and by vectors with all their signals, not yet scored.

    The signal `name` is 1 if the query is the document's name, `OTHER_SPELLING` if only case or underscores differ, .2
    if the words of the query make the name ("zip file" and `ZipFile`) or only the names around it differ, else 0. A
    query in lower case matches any case. The signal `path` is above 0 if the query is the path of the document's file.
    """
    documents, allowed, count = pool.documents, pool.allowed, config.candidate_count
    bm25, ceiling, missing = pool.lexical.scores(query.terms)
    if allowed is not None:
        bm25 = bm25 * allowed
    asked, joined = parse_asked(query.text), joined_names(query.text)
    named = documents_spelled(documents, joined, allowed) or documents_named(documents, asked, allowed)
    at_path = documents_at(documents, asked, allowed)
    scored = np.flatnonzero(bm25 > 0)
    others = np.array([*named, *at_path, *pool.literal], dtype=np.int64)
    parts = [documents.best(scored, bm25[scored], count), others]
    if query.vector is not None:
        parts.append(documents.nearest(query.vector, count, allowed, config.hnsw_ef_search))
    doc_ids = distinct(np.concatenate(parts))
    nothing = np.zeros(len(doc_ids), dtype=np.float32)
    cosine = nothing if query.vector is None else documents.similarities(query.vector, doc_ids)
    signals = {
        "cosine": cosine,
        "length_prior": _length_prior(documents, doc_ids, config.length_prior_half),
        "bm25": bm25[doc_ids],
        "bm25_normalised": bm25[doc_ids] / np.float32(ceiling or 1.0),
        "name": _values(doc_ids, named),
        "path": _values(doc_ids, at_path),
        "literal": _values(doc_ids, dict.fromkeys(pool.literal, 1.0)),
    }
    return Ranking(documents, doc_ids, signals, nothing, missing=missing)


def _values(doc_ids: NDArray[np.int64], found: Mapping[int, float]) -> NDArray[np.float32]:
    """Return the values of documents, 0 for those that were not found: float32 [C]."""
    values = np.zeros(len(doc_ids), dtype=np.float32)
    values[np.searchsorted(doc_ids, list(found))] = list(found.values())
    return values


def _length_prior(documents: Snapshot, doc_ids: NDArray[np.int64], half: float) -> NDArray[np.float32]:
    """Return n / (n + half) for documents with n terms in their bodies: float32 [C].

    The document of a class, interface, enum, struct or trait is only its header, which is always short. So its body
    counts as `_USUAL_TERMS` terms.
    """
    terms = documents.field_lengths(doc_ids, _BODY).astype(np.float32)
    terms[np.isin(documents.kinds(doc_ids), _HEADERS)] = _USUAL_TERMS
    if half == 0:
        return np.ones_like(terms)
    return np.asarray(terms / (terms + np.float32(half)), dtype=np.float32)
