"""Two files of `--json` -> how much each system changed, and whether the change may be chance.

python -m benchmarks.compare BEFORE AFTER
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import CodeSearchError, ConfigError
from codesearch.evaluation.data import QueryId, QueryScores
from codesearch.evaluation.metrics import AVERAGE, group_means, score_table
from codesearch.evaluation.result import row_text

ALPHA = 0.05
_SWAPS = 10_000
_BATCH = 1_000
_SEED = 99


def main() -> None:
    """Print the comparison of two files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path, help="a file of `--json`")
    parser.add_argument("after", type=Path, help="another one of the same suite")
    arguments = parser.parse_args()
    try:
        differences = compare(arguments.before, arguments.after)
    except CodeSearchError as error:
        parser.exit(2, f"error: {error}\n")
    print(comparison_text(arguments.before, arguments.after, differences), end="")


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


def randomisation_test(first: Mapping[QueryId, float], second: Mapping[QueryId, float]) -> dict[str, float]:
    """Return the two-sided p-value of each difference of means, by the paired randomisation test.

    If both systems were equal, swapping their scores of any query would change nothing. p is the share of random
    swaps with a difference at least as large as the observed one, which is counted too.

    *Source*: Smucker, Allan and Carterette, "A comparison of statistical significance tests for information
    retrieval evaluation", CIKM 2007.
    """
    if first.keys() != second.keys():
        raise ValueError("the scores of other queries cannot be paired")
    groups, changes, asked = score_table({query: second[query] - score for query, score in first.items()})
    chance = np.random.default_rng(_SEED)
    per_group = asked.sum(axis=0)

    def differences(signs: NDArray[np.float64]) -> NDArray[np.float64]:
        means = (signs @ changes) / per_group
        return np.asarray(np.abs(np.column_stack([means, means.mean(axis=1)])))

    seen = differences(np.ones((1, len(changes))))[0]
    as_large = np.ones(len(seen))
    for _ in range(_SWAPS // _BATCH):
        signs = chance.choice([-1.0, 1.0], size=(_BATCH, len(changes)))
        as_large += (differences(signs) >= seen - 1e-12).sum(axis=0)
    return dict(zip(groups, (as_large / (_SWAPS + 1)).tolist(), strict=True))


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
        raise ConfigError(f"{path}: {error.strerror}", "give what --json of a suite wrote") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not what --json of a suite writes ({error!r})") from None


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


if __name__ == "__main__":
    main()
