"""A long definition -> its passages that answer a query, best first.

    score = cosine of the passage + _WORDS * share of the idf of the query's terms that its lines have

Without a vector, the words decide alone. A query that is the name of a definition asks for all of it, so its hit has no
passages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from codesearch.search.ranking import AnalysedQuery, Candidate, Ranking
from codesearch.store.source import Ref
from codesearch.text.terms import terms_of
from codesearch.types import Passage

PassagesOf = Callable[[Candidate, Ref, str], tuple[Passage, ...]]
"""Takes a candidate, the document that shows it, and its code."""
_WORDS = 0.8
_MOST = 3
IS_NAME = 0.5
"""From this value of the signal `name` on, the query is the name of the definition."""


def passages_for(query: AnalysedQuery, ranking: Ranking) -> PassagesOf | None:
    """Return what finds the passages of hits; None if the query asks for no passages."""
    if query.exact or not (query.text or query.pasted):
        return None
    return partial(_best_passages, query, ranking)


def _best_passages(
    query: AnalysedQuery, ranking: Ranking, candidate: Candidate, ref: Ref, code: str
) -> tuple[Passage, ...]:
    if candidate.signals.get("name", 0.0) >= IS_NAME:
        return ()
    line, last = ranking.literal.get(ref.doc_id, 0), ref.row.end_line
    is_inside = ref.row.start_line <= line <= last
    chosen = [Passage(line, min(line + 2, last), 1.0 + _WORDS)] if is_inside else []
    ranges, cosines = ranking.documents.passages(ref.doc_id, query.vector)
    if not len(ranges):
        return tuple(chosen)
    texts = code.split("\n")
    begins, ends = (ranges - ref.row.start_line).T.tolist()
    parts = ["\n".join(texts[first : last + 1]) for first, last in zip(begins, ends, strict=True)]
    idf = (ranking.of_title or ranking).idf
    known = [sum(idf.get(term, 0.0) for term in terms) for terms in map(terms_of, parts)]
    scores = cosines + np.float32(_WORDS / (sum(idf.values()) or 1.0)) * np.array(known, np.float32)
    for at in np.argsort(-scores, kind="stable").tolist():
        first, last = ranges[at].tolist()
        is_apart = all(last < one.start_line or first > one.end_line for one in chosen)
        if is_apart and parts[at] and len(chosen) < _MOST:  # A file that changed may have become shorter.
            chosen.append(Passage(first, last, float(scores[at])))
    return tuple(chosen)
