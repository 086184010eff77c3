"""Candidates -> hits with the code of their files and, if a definition is long, its passages that answer the query.

    score of a passage = its cosine + _WORDS * share of the idf of the query's terms that its lines have

Without a vector, the words decide alone. A query that is the name of a definition asks for all of it, so its hit has no
passages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np

from codesearch.search.ranking import AnalysedQuery, Candidate, Ranking
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref
from codesearch.text.terms import terms_of
from codesearch.types import MAX_COPIES, OTHER_SPELLING, Hit, Passage

_WORDS = 0.8
_MOST_PASSAGES = 3
_QUOTED_LINES = 3
"""The passage around a text that the query quotes has so many lines."""

PassagesOf = Callable[[Candidate, Ref, str], tuple[Passage, ...]]
"""Takes a candidate, the document that shows it, and its code."""


def hydrate(
    documents: Snapshot,
    candidates: Sequence[Candidate],
    context: int = 0,
    passages_of: PassagesOf | None = None,
) -> list[Hit]:
    """Return the hits of candidates in the same order, each with `context` lines around its code and its passages.

    A candidate whose code is gone is skipped, or shown by a copy if there is one.
    """
    shown = (shown for best in candidates for shown in (best, *best.others))
    doc_ids = [doc_id for candidate in shown for doc_id in (candidate.doc_id, *candidate.copies[:MAX_COPIES])]
    return _hits(candidates, iter(documents.refs(doc_ids)), context, 1, passages_of)


def hits_of(refs: Sequence[Ref]) -> list[Hit]:
    """Return the hits of definitions without scores; one whose code is gone is skipped."""
    return _hits([Candidate(ref.doc_id, 0.0, {}) for ref in refs], iter(refs))


def passages_for(query: AnalysedQuery, ranking: Ranking) -> PassagesOf | None:
    """Return what finds the passages of hits; None if the query asks for no passages."""
    if query.exact or not (query.text or query.pasted):
        return None
    return partial(_best_passages, query, ranking)


def _hits(
    candidates: Sequence[Candidate],
    refs: Iterator[Ref],
    context: int = 0,
    first_rank: int = 1,
    passages_of: PassagesOf | None = None,
) -> list[Hit]:
    """Return the hits of candidates, whose documents and copies are the next of `refs`."""
    hits: list[Hit] = []
    for candidate in candidates:
        members = list(islice(refs, 1 + min(len(candidate.copies), MAX_COPIES)))
        others = _hits(candidate.others, refs, context, 2)
        for at, ref in enumerate(members, start=1):
            if excerpt := ref.code(context):
                hit = Hit(
                    *ref.row.shown(ref.file),
                    root=ref.root,
                    code=excerpt.code,
                    stale=excerpt.stale,
                    rank=first_rank + len(hits),
                    score=candidate.score,
                    signals=candidate.signals,
                    parts=candidate.parts,
                    before=excerpt.before,
                    after=excerpt.after,
                    copies=tuple(_location(copy, ref.root) for copy in members[at:]),
                    copy_count=1 + len(candidate.copies) - at,
                    passages=passages_of(candidate, ref, excerpt.code) if passages_of else (),
                    others=tuple(others),
                )
                hits.append(hit)
                break
    return hits


def _location(copy: Ref, root: str) -> str:
    """Return "path:line" of a document, relative to `root` if the document is in it."""
    return copy.place if copy.root == root else os.path.join(copy.root, copy.place)


def _best_passages(
    query: AnalysedQuery, ranking: Ranking, candidate: Candidate, ref: Ref, code: str
) -> tuple[Passage, ...]:
    if candidate.signals.get("name", 0.0) >= OTHER_SPELLING:
        return ()
    chosen, last = list[Passage](), ref.row.end_line
    if ref.row.start_line <= (quoted := ranking.literal.get(ref.doc_id, 0)) <= last:
        chosen.append(Passage(quoted, min(quoted + _QUOTED_LINES - 1, last), 1.0 + _WORDS))
    ranges, cosines = ranking.documents.passages(ref.doc_id, query.vector)
    if not len(ranges):
        return tuple(chosen)
    lines, idf = code.split("\n"), (ranking.of_title or ranking).idf
    begins, ends = (ranges - ref.row.start_line).T.tolist()
    texts = ["\n".join(lines[first : end + 1]) for first, end in zip(begins, ends, strict=True)]
    known = [sum(map(idf.__getitem__, idf.keys() & terms_of(text))) for text in texts]
    scores = cosines + np.float32(_WORDS / (sum(idf.values()) or 1.0)) * np.array(known, np.float32)
    for at in np.argsort(-scores, kind="stable").tolist():
        first, end = ranges[at].tolist()
        is_apart = all(end < passage.start_line or first > passage.end_line for passage in chosen)
        if is_apart and texts[at] and len(chosen) < _MOST_PASSAGES:  # A file that changed may be shorter now.
            chosen.append(Passage(first, end, float(scores[at])))
    return tuple(chosen)
