"""A run and its judgements -> numbers in [0, 1], higher is better. Pure functions over plain values.

The first functions take the doc_ids that a system found for one query, best first and none twice, and the grades of the
documents that were judged for it. A document without a grade is not relevant. Two functions score all queries of a run,
and the last ones make means and intervals of such scores.

A score's key is a query's id, (group, text). `average` is the mean of the groups' means, so each group has the same
weight. A query that is asked in several groups is drawn as one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codesearch.evaluation.data import Qrels, QueryId, QueryScores, Run

DEPTH = 300
"""Results per query that CodeSearchNet's evaluation reads."""
AVERAGE = "average"
_RESAMPLES = 5_000
_SEED = 99


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


def group_means(scores: Mapping[QueryId, float]) -> dict[str, float]:
    """Return the mean of each group, and their mean as `average`.

    >>> group_means({("go", "a"): 1.0, ("go", "b"): 0.0, ("php", "a"): 1.0})
    {'go': 0.5, 'php': 1.0, 'average': 0.75}
    """
    groups, values, asked = score_table(scores)
    return dict(zip(groups, _means(values, asked, np.ones((1, len(values))))[0].tolist(), strict=True))


def bootstrap_intervals(scores: Mapping[QueryId, float]) -> dict[str, tuple[float, float]]:
    """Return the 2.5th and 97.5th percentile of each mean over resamples of the queries, with replacement.

    If a resample has no query of a group, it gives no mean for that group.

    *Source*: Efron, "Bootstrap methods: another look at the jackknife", 1979; percentile interval.
    """
    groups, values, asked = score_table(scores)
    low, high = np.nanpercentile(_means(values, asked, _draws(len(values))), [2.5, 97.5], axis=0).tolist()
    return dict(zip(groups, zip(low, high, strict=True), strict=True))


@lru_cache(maxsize=1)
def _draws(count: int) -> NDArray[np.float64]:
    """Return how often each of `count` queries is drawn, [_RESAMPLES, count]; the same for every metric and system."""
    chance = np.random.default_rng(_SEED)
    return chance.multinomial(count, np.full(count, 1 / count), size=_RESAMPLES).astype(np.float64)


def score_table(
    scores: Mapping[QueryId, float],
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return the sorted groups and `average`, the scores [Q, G], and 1 where a query was asked, else 0."""
    groups = sorted({group for group, _ in scores})
    rows = {text: row for row, text in enumerate(sorted({text for _, text in scores}))}
    values, asked = np.zeros((2, len(rows), len(groups)))
    for (group, text), score in scores.items():
        values[rows[text], groups.index(group)] = score
        asked[rows[text], groups.index(group)] = 1
    return [*groups, AVERAGE], values, asked


def _means(
    values: NDArray[np.float64], asked: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return means [R, G + 1] with query weights [R, Q]; the last column is the average, NaN is an empty group."""
    counts, sums = weights @ asked, weights @ values
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return np.column_stack([means, np.nanmean(means, axis=1)])
