"""A query and a snapshot -> the candidates, each with all its signals."""

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
from codesearch.store.topk import distinct
from codesearch.text.terms import FIELDS
from codesearch.types import HEADER_KINDS, KINDS

if TYPE_CHECKING:
    from codesearch.search.documents import Documents

_BODY = FIELDS.index("body")
_HEADERS = [KINDS.index(kind) for kind in KINDS if kind in HEADER_KINDS]
_USUAL_TERMS = 30


@dataclass(frozen=True, slots=True)
class Candidates:
    """The documents to rank, with their signals.

    Attributes:
        doc_ids: int64 [C], ascending.
        bm25: float32 [C], not normalised.
        ceiling: the limit of a BM25F score for the query.
        missing: the share of the idf of the query's terms that belongs to terms that occur nowhere, 0 to 1.
        cosine: float32 [C].
        length_prior: float32 [C], weight of the cosine, 0 to 1; low for short bodies.
        name: float32 [C], 1 if the query is the document's name, `OTHER_SPELLING` if only case or underscores differ,
            .2 if the words of the query make the name ("zip file" and `ZipFile`) or only the names around it differ,
            else 0. A query in lower case matches any case.
        path: float32 [C], above 0 if the query is the path of the document's file: 1 for the first one to show.
        literal: float32 [C], 1 if the query stands literally in the document.
    """

    doc_ids: NDArray[np.int64]
    bm25: NDArray[np.float32]
    ceiling: float
    missing: float
    cosine: NDArray[np.float32]
    length_prior: NDArray[np.float32]
    name: NDArray[np.float32]
    path: NDArray[np.float32]
    literal: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query as terms and a vector. Without terms, keywords find nothing; without a vector, vectors find nothing.

    Attributes:
        text: the query if it is in words; empty if it is code, because the words of code ask for nothing.
        pasted: whether the query is a piece of code.
        literals: the texts that the query may quote.
        exact: the only documents that are ranked, those with an exact text; None for all.
    """

    text: str
    terms: Sequence[str]
    vector: NDArray[np.float32] | None
    pasted: bool = False
    literals: Sequence[Literal] = ()
    exact: Sequence[int] | None = None


def gather(
    snapshot: Documents,
    lexical: LexicalScorer,
    query: AnalysedQuery,
    *,
    allowed: NDArray[np.bool_] | None,
    config: RankConfig,
    literal: Sequence[int] = (),
) -> Candidates:
    """Collect the best allowed documents by keywords and by vectors, and compute all signals for each of them.

    Args:
        snapshot: what to search.
        lexical: scores its documents by keywords.
        query: what to search for.
        allowed: bool [size], or None if all documents are allowed.
        config: the number of candidates and the settings of the length prior and the graph.
        literal: allowed documents in which the query stands literally.
    """
    count = config.candidate_count
    bm25, ceiling, missing = lexical.scores(query.terms)
    if allowed is not None:
        bm25 = bm25 * allowed
    asked, joined = parse_asked(query.text), joined_names(query.text)
    named = documents_spelled(snapshot, joined, allowed) or documents_named(snapshot, asked, allowed)
    at_path = documents_at(snapshot, asked, allowed)
    found = np.flatnonzero(bm25 > 0)
    parts = [snapshot.best(found, bm25[found], count), np.array([*named, *at_path, *literal], dtype=np.int64)]
    if query.vector is not None:
        parts.append(snapshot.nearest(query.vector, count, allowed, config.hnsw_ef_search))
    doc_ids = distinct(np.concatenate(parts))
    cosine = np.zeros(len(doc_ids), dtype=np.float32)
    if query.vector is not None:
        cosine = snapshot.similarities(query.vector, doc_ids)
    length_prior = _length_prior(snapshot, doc_ids, config.length_prior_half)
    return Candidates(
        doc_ids,
        bm25[doc_ids],
        ceiling,
        missing,
        cosine,
        length_prior,
        name=_values(doc_ids, named),
        path=_values(doc_ids, at_path),
        literal=_values(doc_ids, dict.fromkeys(literal, 1.0)),
    )


def _values(doc_ids: NDArray[np.int64], found: Mapping[int, float]) -> NDArray[np.float32]:
    """Return the values of documents, 0 for those that were not found: float32 [C]."""
    values = np.zeros(len(doc_ids), dtype=np.float32)
    values[np.searchsorted(doc_ids, list(found))] = list(found.values())
    return values


def _length_prior(snapshot: Documents, doc_ids: NDArray[np.int64], half: float) -> NDArray[np.float32]:
    """Return n / (n + half) for documents with n terms in their bodies: float32 [C].

    The document of a class, interface, enum, struct or trait is only its header, which is always short. So its body
    counts as `_USUAL_TERMS` terms.
    """
    terms = snapshot.field_lengths(doc_ids, _BODY).astype(np.float32)
    terms[np.isin(snapshot.kinds(doc_ids), _HEADERS)] = _USUAL_TERMS
    if half == 0:
        return np.ones_like(terms)
    return np.asarray(terms / (terms + np.float32(half)), dtype=np.float32)
