"""A query and a snapshot -> the candidates, each with all its signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.forms import asked_name, asked_path, joined_names, spellings, split_name
from codesearch.search.lexical import LexicalScorer
from codesearch.search.literals import Literal
from codesearch.search.lookup import nearest
from codesearch.store.topk import distinct
from codesearch.text.terms import FIELDS
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
_MOST_AT_PATH = 200


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
    named = _named(snapshot, query.text, allowed)
    at_path = _at_path(snapshot, query.text, allowed)
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


def _named(snapshot: Documents, query: str, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Find the documents that the query names; return the signal of each.

    Names around them and kinds in the query decide between documents with the same name.
    """
    joined = _with_names(snapshot, joined_names(query), allowed)
    asked = asked_name(query)
    if asked is None or joined:
        return dict.fromkeys(joined, _SPELLED_OUT)
    found = _with_names(snapshot, spellings(asked.name), allowed)
    likeness = {doc_id: _likeness(asked.name, exact) for doc_id, (exact, _) in found.items()}
    if not (within := _within(snapshot, found, asked.qualifiers)):  # "app" in "app.route" may be a variable.
        return {doc_id: _SPELLED_OUT for doc_id, value in likeness.items() if value == 1.0}
    chosen = _of_kind(snapshot, within, asked.kinds)
    if chosen is None:  # "class loader" does not name a function `loader`, but "def Parser" names a class.
        chosen = [doc_id for doc_id in within if not asked.name.islower() and likeness[doc_id] == 1.0]
    return {doc_id: likeness[doc_id] for doc_id in chosen}


def _with_names(
    snapshot: Documents, names: Sequence[str], allowed: NDArray[np.bool_] | None
) -> dict[int, tuple[str, str]]:
    """Return name and qualified name of the allowed documents with one of some names, ignoring case."""
    return {
        doc_id: (exact, qualified)
        for name in names
        for doc_id, exact, qualified in snapshot.named(name)
        if allowed is None or allowed[doc_id]
    }


def _likeness(name: str, exact: str) -> float:
    return 1.0 if name in (exact, exact.lower()) else OTHER_SPELLING


def _of_kind(
    snapshot: Documents, doc_ids: Sequence[int], kinds: Sequence[frozenset[str]]
) -> Sequence[int] | None:
    """Return the documents with the first kinds that any has; None if no document has one of these kinds."""
    if not kinds:
        return doc_ids
    having = [KINDS[kind] for kind in snapshot.kinds(np.array(doc_ids, np.int64)).tolist()]
    for wanted in kinds:
        if chosen := [doc_id for doc_id, kind in zip(doc_ids, having, strict=True) if kind in wanted]:
            return chosen
    return None


def _within(
    snapshot: Documents, found: Mapping[int, tuple[str, str]], qualifiers: Sequence[str]
) -> list[int]:
    """Return the documents that the qualifiers are around.

    The qualifiers must be the innermost names around a definition: classes, then file and folders. If they are not for
    any document, names may be missing between and after them: `lang3.StringUtils` is in `lang3/StringUtils.java`. If
    that finds nothing, the outermost qualifier does not count: it may be the name of the whole project.
    """
    if not qualifiers:
        return list(found)
    around = {doc_id: _around(snapshot, doc_id, qualified) for doc_id, (_, qualified) in found.items()}
    for first in range(len(qualifiers)):
        wanted = [qualifier.lower() for qualifier in qualifiers[first:]]
        for matches in (_ends_with, _has_in_order):
            if chosen := [doc_id for doc_id, names in around.items() if matches(names, wanted)]:
                return chosen
    return []


def _ends_with(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return names[-len(wanted) :] == wanted


def _has_in_order(names: Sequence[str], wanted: Sequence[str]) -> bool:
    left = iter(names)
    return all(name in left for name in wanted)


def _around(snapshot: Documents, doc_id: int, qualified: str) -> list[str]:
    """List the names around a definition in lower case, outermost first."""
    at = np.array([doc_id], np.int64)
    path = PurePosixPath(*snapshot.paths_of(at))
    module = path.parent if path.stem in FOLDER_FILES else path.with_suffix("")
    if snapshot.kinds(at)[0] == _MODULE:
        module = module.parent
    return [name.lower() for name in (*module.parts, *split_name(qualified)[:-1])]


def _at_path(snapshot: Documents, query: str, allowed: NDArray[np.bool_] | None) -> dict[int, float]:
    """Find the documents of the files whose path is the query; return the signal of each.

    The first documents of all files come first, then the second ones. If the query has a line, the innermost document
    around it is the first of its file.
    """
    if (asked := asked_path(query)) is None:
        return {}
    files = []
    for doc_ids in snapshot.at_path(asked.path):
        passing = [doc_id for doc_id in doc_ids if allowed is None or allowed[doc_id]]
        if asked.line:
            passing = _nearest_first(snapshot, passing, asked.line)
        files.append(passing)
    in_turn = (doc_id for turn in zip_longest(*files) for doc_id in turn if doc_id is not None)
    return {
        doc_id: 1 - place / (2 * _MOST_AT_PATH) for place, doc_id in enumerate(islice(in_turn, _MOST_AT_PATH))
    }


def _nearest_first(snapshot: Documents, doc_ids: Sequence[int], line: int) -> list[int]:
    place = nearest([ref.row for ref in snapshot.refs(doc_ids)], line)
    return list(dict.fromkeys(doc_ids if place is None else [doc_ids[place], *doc_ids]))
