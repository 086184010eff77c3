"""`results/bench_*.json`, as `--json` of the suites wrote them -> the tables of docs/dev and of README.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.publish import DEV_DOCS, README, RESULTS, fill, line
from codesearch.evaluation.metrics import AVERAGE

PAGES = {
    **dict.fromkeys(("csn_mrr", "advtest"), "codesearchnet.md"),
    **dict.fromkeys(("repositories", "histories", "commits", "passages", "forms"), "bench-repositories.md"),
    **dict.fromkeys(("everyday", "everyday_end"), "bench-repositories.md"),
}
"""The page of a suite, if it is not bench.md."""
BY_LANGUAGE = {
    "csn99": ("ndcg_all", "ndcg_within"),
    "csn_mrr": ("mrr",),
    "histories": ("mrr",),
    "commits": ("recall_at_10",),
    "known_items": ("mrr",),
    "passages": ("mrr", "mrr_alike", "mrr_file", "passage_at_10"),
}
"""Suites with several groups: one table for each metric, with a column for each group."""
ALL_TOGETHER = {
    **dict.fromkeys(("cosqa", "advtest", "applications_end"), ("mrr", "recall_at_1", "recall_at_10")),
    **dict.fromkeys(("everyday", "everyday_end"), ("recall_at_1", "mrr", "file_mrr")),
    "repositories": ("ndcg_at_10",),
    **dict.fromkeys(("direction", "forms"), ("accuracy",)),
}
"""Suites of one group, or whose groups are alike: one table for each suite, its first metric with the interval."""


def main() -> None:
    """Fill the pages."""
    for suite, metrics in BY_LANGUAGE.items():
        systems = _systems(suite)
        fill(page_of(suite), suite, "\n\n".join(by_language(systems, metric) for metric in metrics))
    for suite, metrics in ALL_TOGETHER.items():
        fill(page_of(suite), suite, all_together(_systems(suite), metrics))
    fill(README, "quality", beside_semble())


def page_of(suite: str) -> Path:
    """Return the page that has the tables of a suite."""
    return DEV_DOCS / PAGES.get(suite, "bench.md")


def _systems(suite: str) -> dict[str, Any]:
    systems: dict[str, Any] = json.loads((RESULTS / f"bench_{suite}.json").read_text("utf-8"))["systems"]
    return systems


def by_language(systems: dict[str, Any], metric: str) -> str:
    """Make a table of one metric: a row for each system, a column for each language, the average and its interval."""
    groups = next(iter(systems.values()))[metric]
    rows = [line([f"`{metric}`", *groups, "95% of average"]), line(["---"] * (len(groups) + 2))]
    for name, system in systems.items():
        figures = [f"{system[metric][group]:.3f}" for group in groups]
        rows.append(line([name, *figures, _interval(system, metric)]))
    return "\n".join(rows)


def all_together(systems: dict[str, Any], metrics: Sequence[str]) -> str:
    """Make a table of averages: a row for each system, a column for each metric."""
    rows = [line(["", *(f"`{metric}`" for metric in metrics)]), line(["---"] * (len(metrics) + 1))]
    for name, system in systems.items():
        first, *others = (f"{system[metric][AVERAGE]:.3f}" for metric in metrics)
        rows.append(line([name, f"{first} ({_interval(system, metrics[0])})", *others]))
    return "\n".join(rows)


def beside_semble() -> str:
    """Make a table of `ndcg_at_10` by language: codesearch and what semble published for the same repositories."""
    published = json.loads((RESULTS / "published_semble.json").read_text("utf-8"))
    theirs, languages = published["ndcg_at_10"], published["languages"]
    ours = _systems("repositories")["default"]["ndcg_at_10"]
    rows = {
        language: [name for name in languages if languages[name] == language]
        for language in sorted(set(languages.values()))
    }
    rows["all"] = list(languages)
    found = [line(["language", "codesearch", "semble"]), line(["---"] * 3)]
    for language, names in rows.items():
        means = (f"{mean(system[name] for name in names):.3f}" for system in (ours, theirs))
        found.append(line([language, *means]))
    return "\n".join(found)


def _interval(system: dict[str, Any], metric: str) -> str:
    low, high = system["ci95"][metric][AVERAGE]
    return f"{low:.3f}–{high:.3f}"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    main()
