"""Scores of queries -> means, intervals and tests, and the comparison of two results.

A query that is asked in several groups is drawn as one.

A score's key is a query's id, (group, text). `average` is the mean of the groups' means, so each group has the same
weight.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ConfigError
from codesearch.evaluation.qrels import QueryId, QueryScores

AVERAGE = "average"
ALPHA = 0.05
RESAMPLES = 5_000
SWAPS = 10_000
_SEED = 99
_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class _Table:
    """Scores as a matrix.

    Attributes:
        groups: names, G of them, sorted.
        scores: float64 [Q, G], 0 if a query was not asked in a group.
        asked: float64 [Q, G], 1 if it was.
    """

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


@dataclass(frozen=True, slots=True)
class Difference:
    """One system by one metric in both results.

    Attributes:
        first: group -> mean, with `average`.
        second: the same.
        p: group -> two-sided p-value of the difference, with `average`.
        identical: whether every query has the same score.
    """

    system: str
    metric: str
    first: dict[str, float]
    second: dict[str, float]
    p: dict[str, float]
    identical: bool

    def change(self, group: str = AVERAGE) -> float:
        """Return how much higher the second is."""
        return self.second[group] - self.first[group]

    def verdict(self) -> str:
        """Judge the average: "better", "worse", "no difference shown" or "the same scores"."""
        if self.identical:
            return "the same scores"
        if self.p[AVERAGE] >= ALPHA:
            return "no difference shown"
        return "better" if self.change() > 0 else "worse"


def compare(first: Path, second: Path) -> list[Difference]:
    """Compare every system that is in both files by every metric that is in both.

    If each file has only one system, these two are compared even if their names differ.
    """
    (suite, before), (other_suite, after) = _read_scores(first), _read_scores(second)
    if suite != other_suite:
        raise ConfigError(
            f"{first} is of suite {suite}, {second} of {other_suite}", "compare results of one suite"
        )
    pairs = [(name, scores, after[name]) for name, scores in before.items() if name in after]
    if not pairs and len(before) == len(after) == 1:
        (name, scores), (other, others) = *before.items(), *after.items()
        pairs = [(f"{name} to {other}", scores, others)]
    if not pairs:
        raise ConfigError(
            f"{first} and {second} have no system in common: {', '.join(before)}; {', '.join(after)}"
        )
    for name, scores, others in pairs:
        if scores.keys() != others.keys():
            raise ConfigError(
                f"{first} and {second} judge other queries for {name}", "run both by the same annotations"
            )
    if not any(scores for _, scores, _ in pairs):
        raise ConfigError(
            f"suite {suite} keeps no scores of single queries", "compare the intervals of both runs"
        )
    return [difference for pair in pairs for difference in _differences(*pair)]


def _differences(name: str, first: QueryScores, second: QueryScores) -> Iterator[Difference]:
    shared = [
        metric for metric in next(iter(first.values()), {}) if metric in next(iter(second.values()), {})
    ]
    for metric in shared:
        old = {query: scores[metric] for query, scores in first.items()}
        new = {query: scores[metric] for query, scores in second.items()}
        yield Difference(
            system=name,
            metric=metric,
            first=group_means(old),
            second=group_means(new),
            p=randomisation_test(old, new),
            identical=old == new,
        )


def _read_scores(path: Path) -> tuple[str, dict[str, QueryScores]]:
    """Read a result's JSON: the suite, and for each system the scores of its queries."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        ids = list(zip(fields["queries"]["group"], fields["queries"]["text"], strict=True))
        systems = {
            name: {
                query: dict(zip(system["scores"], map(float, row), strict=True))
                for query, row in zip(ids, zip(*system["scores"].values(), strict=True), strict=True)
            }
            for name, system in fields["systems"].items()
        }
        return str(fields["suite"]), systems
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "give what `codesearch bench --json` wrote") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not what `codesearch bench --json` writes ({error!r})") from None
