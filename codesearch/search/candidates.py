"""A query against a snapshot -> the documents that compete, each with all its signals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis.terms import FIELDS
from codesearch.config import RankConfig
from codesearch.index.snapshot import Snapshot
from codesearch.search.forms import name_parts, spellings, split_name
from codesearch.search.lexical import LexicalScorer
from codesearch.segments.topk import distinct
from codesearch.types import FOLDER_FILES, HEADER_KINDS, KINDS

_BODY = FIELDS.index("body")
_HEADERS = [KINDS.index(kind) for kind in KINDS if kind in HEADER_KINDS]
_MODULE = KINDS.index("module")
_USUAL_TERMS = 30


@dataclass(frozen=True, slots=True)
class Candidates:
    """Documents that compete.

    Attributes:
        doc_ids: int64 [C], ascending.
        bm25: float32 [C], not normalised.
        ceiling: the limit of a BM25F score for the query.
        cosine: float32 [C].
        length_prior: float32 [C], weight of the cosine, 0 to 1; low for short bodies.
        name: float32 [C], 1 where the query is the document's name, .5 where only case or underscores differ.
    """

    doc_ids: NDArray[np.int64]
    bm25: NDArray[np.float32]
    ceiling: float
    cosine: NDArray[np.float32]
    length_prior: NDArray[np.float32]
    name: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """A query as keywords and vectors need it; without terms or without a vector, that half finds nothing.

    Attributes:
        text: what is asked in words; empty where code is the query, whose words ask for nothing.
        pasted: the query is a piece of code.
    """

    text: str
    terms: Sequence[str]
    vector: NDArray[np.float32] | None
    pasted: bool = False


def gather(
    snapshot: Snapshot,
    lexical: LexicalScorer,
    query: AnalysedQuery,
    *,
    allowed: NDArray[np.bool_] | None,
    config: RankConfig,
) -> Candidates:
    """Collect the best allowed documents by keywords and by vectors, and score all of them by all signals.

    Args:
        snapshot: what to search.
        lexical: scores its documents by keywords.
        query: what to search for.
        allowed: bool [size], or None when every document is.
        config: how many candidates, and how far a vector is believed.
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


def _length_prior(snapshot: Snapshot, doc_ids: NDArray[np.int64], half: float) -> NDArray[np.float32]:
    """Return n / (n + half) for documents with n terms in their bodies: float32 [C].

    A class, interface, enum, struct or trait is its header alone, which is short by nature, and counts as a body of
    usual length.
    """
    terms = snapshot.field_lengths(doc_ids, _BODY).astype(np.float32)
    terms[np.isin(snapshot.kinds(doc_ids), _HEADERS)] = _USUAL_TERMS
    if half == 0:
        return np.ones_like(terms)
    return np.asarray(terms / (terms + np.float32(half)), dtype=np.float32)


def _named(snapshot: Snapshot, query: str, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Find the documents whose name, qualified by classes or its module or not at all, is the query."""
    *qualifiers, name = name_parts(query) or [""]
    found: dict[int, float] = {}
    for spelling in spellings(name) if name else []:
        for doc_id, exact, qualified in snapshot.named(spelling):
            if (allowed is None or allowed[doc_id]) and _is_within(snapshot, doc_id, qualified, qualifiers):
                found[doc_id] = 1.0 if exact == name else 0.5
    return found


def _is_within(snapshot: Snapshot, doc_id: int, qualified: str, qualifiers: Sequence[str]) -> bool:
    """Say whether what is around a definition ends with some qualifiers; a file is around what is in it."""
    if not qualifiers:
        return True
    path = snapshot.path_of(doc_id)
    module = path.parent if path.stem in FOLDER_FILES else path.with_suffix("")
    if snapshot.kinds(np.array([doc_id], np.int64))[0] == _MODULE:
        module = module.parent
    around = [*module.parts, *split_name(qualified)[:-1]]
    wanted = [qualifier.lower() for qualifier in qualifiers]
    return [part.lower() for part in around[-len(wanted) :]] == wanted
