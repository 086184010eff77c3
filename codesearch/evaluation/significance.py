"""Scores of queries -> means, intervals and tests.

A score's key is a query's id, (group, text). `average` is the mean of the groups' means, so each group has the same
weight. A query that is asked in several groups is drawn as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codesearch.evaluation.qrels import QueryId

AVERAGE = "average"
RESAMPLES = 5_000
SWAPS = 10_000
_SEED = 99
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class _Table:
    """Scores as a matrix [Q, G] over sorted groups: 0 where a query was not asked in a group, and `asked` is 0 too."""

    groups: list[str]
    scores: NDArray[np.float64]
    asked: NDArray[np.float64]


def group_means(scores: Mapping[QueryId, float]) -> dict[str, float]:
    """Return the mean of each group, and their mean as `average`.

    >>> group_means({("go", "a"): 1.0, ("go", "b"): 0.0, ("php", "a"): 1.0})
    {'go': 0.5, 'php': 1.0, 'average': 0.75}
    """
    table = _table(scores)
    return _named(table, _means(table, np.ones((1, len(table.scores))))[0])


def bootstrap_intervals(scores: Mapping[QueryId, float]) -> dict[str, tuple[float, float]]:
    """Return the 2.5th and 97.5th percentile of each mean over resamples of the queries, with replacement.

    If a resample has no query of a group, it gives no mean for that group.

    *Source*: Efron, "Bootstrap methods: another look at the jackknife", 1979; percentile interval.
    """
    table = _table(scores)
    low, high = np.nanpercentile(_means(table, _draws(len(table.scores))), [2.5, 97.5], axis=0)
    bounds = _named(table, low), _named(table, high)
    return {name: (bounds[0][name], bounds[1][name]) for name in bounds[0]}


@lru_cache(maxsize=1)
def _draws(count: int) -> NDArray[np.float64]:
    """Return how often each of `count` queries is drawn: [RESAMPLES, count]; the same for every metric and system."""
    chance = np.random.default_rng(_SEED)
    return chance.multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(np.float64)


def randomisation_test(first: Mapping[QueryId, float], second: Mapping[QueryId, float]) -> dict[str, float]:
    """Return the two-sided p-value of each difference of means, by the paired randomisation test.

    If both systems were equal, swapping their scores of any query would change nothing. p is the share of random
    swaps with a difference at least as large as the observed one, which is counted too.

    *Source*: Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
    retrieval evaluation", CIKM 2007.
    """
    if first.keys() != second.keys():
        raise ValueError("the scores of other queries cannot be paired")
    table = _table({query: second[query] - score for query, score in first.items()})
    chance = np.random.default_rng(_SEED)
    per_group = table.asked.sum(axis=0)

    def differences(signs: NDArray[np.float64]) -> NDArray[np.float64]:
        groups = (signs @ table.scores) / per_group
        return np.asarray(np.abs(np.column_stack([groups, groups.mean(axis=1)])))

    seen = differences(np.ones((1, len(table.scores))))[0]
    as_large = np.ones(len(seen))
    for _ in range(SWAPS // _BATCH):
        signs = chance.choice([-1.0, 1.0], size=(_BATCH, len(table.scores)))
        as_large += (differences(signs) >= seen - 1e-12).sum(axis=0)
    return _named(table, as_large / (SWAPS + 1))


def _table(scores: Mapping[QueryId, float]) -> _Table:
    groups = sorted({group for group, _ in scores})
    texts = sorted({text for _, text in scores})
    rows = {text: row for row, text in enumerate(texts)}
    columns = {group: column for column, group in enumerate(groups)}
    table = _Table(groups, np.zeros((len(texts), len(groups))), np.zeros((len(texts), len(groups))))
    for (group, text), score in scores.items():
        table.scores[rows[text], columns[group]] = score
        table.asked[rows[text], columns[group]] = 1
    return table


def _means(table: _Table, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means [R, G + 1] with query weights [R, Q]; the last column is the average, NaN is an empty group."""
    asked = weights @ table.asked
    sums = weights @ table.scores
    means = np.divide(sums, asked, out=np.full(sums.shape, np.nan), where=asked > 0)
    return np.column_stack([means, np.nanmean(means, axis=1)])


def _named(table: _Table, values: NDArray[np.float64]) -> dict[str, float]:
    return dict(zip([*table.groups, AVERAGE], values.tolist(), strict=True))
