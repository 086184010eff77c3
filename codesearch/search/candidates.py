"""A query and a snapshot -> the candidates, each with all its signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis.terms import FIELDS
from codesearch.config import RankConfig
from codesearch.search.forms import name_parts, possible_names, split_name
from codesearch.search.lexical import LexicalScorer
from codesearch.segments.topk import distinct
from codesearch.types import FOLDER_FILES, HEADER_KINDS, KINDS

if TYPE_CHECKING:
    from codesearch.search.documents import Documents

_BODY = FIELDS.index("body")
_HEADERS = [KINDS.index(kind) for kind in KINDS if kind in HEADER_KINDS]
_MODULE = KINDS.index("module")
_USUAL_TERMS = 30
OTHER_SPELLING = 0.5
"""The signal `name` if only case or underscores differ; from this value on, the query names the document."""
_SPELLED_OUT = 0.2


@dataclass(frozen=True, slots=True)
class Candidates:
    """The documents to rank, with their signals.

    Attributes:
        doc_ids: int64 [C], ascending.
        bm25: float32 [C], not normalised.
        ceiling: the limit of a BM25F score for the query.
        cosine: float32 [C].
        length_prior: float32 [C], weight of the cosine, 0 to 1; low for short bodies.
        name: float32 [C], 1 if the query is the document's name, `OTHER_SPELLING` if only case or underscores differ,
            .2 if the words of the query make the name ("zip file" and `ZipFile`), else 0. A query in lower case matches
            any case.
    """

    doc_ids: NDArray[np.int64]
    bm25: NDArray[np.float32]
    ceiling: float
    cosine: NDArray[np.float32]
    length_prior: NDArray[np.float32]
    name: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query as terms and a vector. Without terms, keywords find nothing; without a vector, vectors find nothing.

    Attributes:
        text: the query if it is in words; empty if it is code, because the words of code ask for nothing.
        pasted: whether the query is a piece of code.
    """

    text: str
    terms: Sequence[str]
    vector: NDArray[np.float32] | None
    pasted: bool = False


def gather(
    snapshot: Documents,
    lexical: LexicalScorer,
    query: AnalysedQuery,
    *,
    allowed: NDArray[np.bool_] | None,
    config: RankConfig,
) -> Candidates:
    """Collect the best allowed documents by keywords and by vectors, and compute all signals for each of them.

    Args:
        snapshot: what to search.
        lexical: scores its documents by keywords.
        query: what to search for.
        allowed: bool [size], or None if all documents are allowed.
        config: the number of candidates and the settings of the length prior and the graph.
    """
    count = config.candidate_count
    bm25, ceiling = lexical.scores(query.terms)
    if allowed is not None:
        bm25 *= allowed
    named = _named(snapshot, query.text, allowed)
    found = np.flatnonzero(bm25 > 0)
    parts = [snapshot.best(found, bm25[found], count), np.array(list(named), dtype=np.int64)]
    if query.vector is not None:
        parts.append(snapshot.nearest(query.vector, count, allowed, config.hnsw_ef_search))
    doc_ids = distinct(np.concatenate(parts))
    cosine = np.zeros(len(doc_ids), dtype=np.float32)
    if query.vector is not None:
        cosine = snapshot.similarities(query.vector, doc_ids)
    name = np.zeros(len(doc_ids), dtype=np.float32)
    name[np.searchsorted(doc_ids, list(named))] = list(named.values())
    length_prior = _length_prior(snapshot, doc_ids, config.length_prior_half)
    return Candidates(doc_ids, bm25[doc_ids], ceiling, cosine, length_prior, name)


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


def _named(snapshot: Documents, query: str, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Find the documents whose name is the query; return the signal of each.

    Classes or the module may qualify the name in the query.
    """
    *qualifiers, name = name_parts(query) or [""]
    found: dict[int, float] = {}
    for spelling in possible_names(query):
        for doc_id, exact, qualified in snapshot.named(spelling):
            if (allowed is None or allowed[doc_id]) and _is_within(snapshot, doc_id, qualified, qualifiers):
                found[doc_id] = _likeness(name, exact)
    return found


def _likeness(name: str, exact: str) -> float:
    if not name:
        return _SPELLED_OUT
    return 1.0 if name in (exact, exact.lower()) else OTHER_SPELLING


def _is_within(snapshot: Documents, doc_id: int, qualified: str, qualifiers: Sequence[str]) -> bool:
    """Say whether the qualifiers are the innermost names around a definition: classes, then file and folders."""
    if not qualifiers:
        return True
    path = snapshot.path_of(doc_id)
    module = path.parent if path.stem in FOLDER_FILES else path.with_suffix("")
    if snapshot.kinds(np.array([doc_id], np.int64))[0] == _MODULE:
        module = module.parent
    around = [*module.parts, *split_name(qualified)[:-1]]
    wanted = [qualifier.lower() for qualifier in qualifiers]
    return [part.lower() for part in around[-len(wanted) :]] == wanted
