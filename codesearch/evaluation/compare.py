"""Two files of `bench --json` -> how much each system changed, and whether the change may be chance."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import ConfigError
from codesearch.evaluation.qrels import QueryScores
from codesearch.evaluation.result import row_text
from codesearch.evaluation.significance import AVERAGE, group_means, randomisation_test

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """One system by one metric: the means of both results and the two-sided p-value, by group and `average`."""

    system: str
    metric: str
    first: dict[str, float]
    second: dict[str, float]
    p: dict[str, float]
    identical: bool
    """Whether every query has the same score."""

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


def comparison_text(first: Path, second: Path, differences: Sequence[Difference]) -> str:
    """Return how much each system changed, and whether the change may be chance."""
    return "".join(f"{line}\n" for line in _comparison_lines(first, second, differences))


def _comparison_lines(first: Path, second: Path, differences: Sequence[Difference]) -> Iterator[str]:
    yield f"from {first} to {second}"
    for metric in dict.fromkeys(difference.metric for difference in differences):
        rows = [difference for difference in differences if difference.metric == metric]
        groups = [group for group in rows[0].first if group != AVERAGE]
        yield f"\n{row_text(metric, groups, groups)}   average                      p"
        for row in rows:
            changes = row_text(f"  {row.system}", groups, [f"{row.change(group):+.3f}" for group in groups])
            average = f"{row.first[AVERAGE]:.3f} to {row.second[AVERAGE]:.3f} ({row.change():+.3f})"
            yield f"{changes}   {average}  {row.p[AVERAGE]:6.4f}  {row.verdict()}"
    yield "\np: share of random swaps of the systems' scores with at least this difference (two-sided)"
