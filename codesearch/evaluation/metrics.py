"""A run and its judgements -> numbers in [0, 1], higher is better. Pure functions over plain values.

The first functions take the doc_ids that a system found for one query, best first and none twice, and the grades of the
documents that were judged for it. A document without a grade is not relevant. The last two score all queries of a run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from codesearch.evaluation.qrels import Qrels, QueryScores, Run

DEPTH = 300
"""Results per query that CodeSearchNet's evaluation reads."""


def ndcg(run: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """Return NDCG with gain 2^grade - 1 and discount log2(rank + 1).

    The ideal ranking has every judged document, even one that is not in the corpus. Grades may be fractions, because
    they are means over annotators.

    *Source*: Järvelin and Kekäläinen 2002, with the gain of Burges et al. 2005; as in Husain et al. 2019.
    """
    ideal = _discounted(sorted(grades.values(), reverse=True))
    if not ideal:
        raise ValueError("a query without a relevant document has no NDCG")
    return _discounted(grades.get(document, 0.0) for document in run[:depth]) / ideal


def _discounted(grades: Iterable[float]) -> float:
    return math.fsum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def ndcg_within(run: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """Return the NDCG of the first `depth` documents after those without a judgement are removed.

    >>> ndcg_within(["x", "a", "y", "b"], {"a": 3, "b": 1})
    1.0
    """
    return ndcg([document for document in run[:depth] if document in grades], grades, depth)


def recall_at_k(run: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the share of the relevant documents (grade above 0) among the first `k`."""
    relevant = {document for document, grade in grades.items() if grade > 0}
    if not relevant:
        raise ValueError("a query without a relevant document has no recall")
    return len(relevant.intersection(run[:k])) / len(relevant)


def reciprocal_rank(run: Sequence[str], relevant: Collection[str], depth: int | None = None) -> float:
    """Return 1 / the rank of the first relevant document, or 0 if none is among the first `depth`.

    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"})
    0.5
    """
    return next((1 / rank for rank, document in enumerate(run[:depth], 1) if document in relevant), 0.0)


def score_graded(run: Run, qrels: Qrels) -> QueryScores:
    """Score each judged query by CodeSearchNet's protocol; one that the run does not answer scores 0.

    NDCG "all" is over every result, and results without a judgement have no gain. NDCG "within" removes these first.
    """
    ranked = {query: run.get(query, []) for query in qrels}
    return {
        query: {
            "ndcg_all": ndcg(ranked[query], grades),
            "ndcg_within": ndcg_within(ranked[query], grades),
            "recall_at_10": recall_at_k(ranked[query], grades, 10),
            f"recall_at_{DEPTH}": recall_at_k(ranked[query], grades, DEPTH),
        }
        for query, grades in qrels.items()
    }


def score_answers(run: Run, qrels: Qrels, found_at: Sequence[int], depth: int | None = None) -> QueryScores:
    """Score each query by the rank of its first right answer; one that the run does not answer scores 0."""
    ranked = {query: run.get(query, []) for query in qrels}
    return {
        query: {
            "mrr": reciprocal_rank(ranked[query], right, depth),
            **{f"recall_at_{k}": float(not right.keys().isdisjoint(ranked[query][:k])) for k in found_at},
        }
        for query, right in qrels.items()
    }
