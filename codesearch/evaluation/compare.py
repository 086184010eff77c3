"""Two results of a suite -> which system became better, and whether the difference may be chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.result import QueryScores, read_queries_json
from codesearch.evaluation.significance import AVERAGE, group_means, randomisation_test

ALPHA = 0.05


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

    Raises:
        ConfigError: a file cannot be read, or they are not about the same queries.
    """
    (suite, before), (other_suite, after) = read_queries_json(first), read_queries_json(second)
    if suite != other_suite:
        raise ConfigError(
            f"{first} is of suite {suite}, {second} of {other_suite}: compare results of one suite"
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
                f"{first} and {second} judge other queries for {name}: run both by the same annotations"
            )
    if not any(scores for _, scores, _ in pairs):
        raise ConfigError(
            f"suite {suite} keeps no scores of single queries: compare the intervals of both runs"
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
