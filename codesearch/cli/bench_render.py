"""What a suite found -> tables for a terminal or a pipe."""

from __future__ import annotations

from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.significance import AVERAGE


def print_result(result: SuiteResult) -> None:
    """Print every metric of every system, and what the run took."""
    print(f"{result.suite}: {result.judged_queries} judged queries, {result.documents:,} documents")
    metrics = list(next(iter(result.systems.values())).metrics)
    for metric in metrics:
        print()
        _print_metric(result, metric)
    print()
    print("  stage".ljust(22) + "seconds".rjust(9) + "peak MB".rjust(9))
    for stage, seconds in result.seconds.items():
        print(f"  {stage:20}{seconds:9.1f}{result.rss_bytes.get(stage, 0) / 1e6:9.0f}")


def _print_metric(result: SuiteResult, metric: str) -> None:
    groups = list(next(iter(result.systems.values())).metrics[metric])
    widths = {group: max(8, len(group) + 2) for group in groups}
    print(metric.ljust(16) + "".join(group.rjust(widths[group]) for group in groups) + "   95% of average")
    for name, system in result.systems.items():
        values = system.metrics[metric]
        low, high = system.ci95[metric][AVERAGE]
        cells = "".join(f"{values[group]:.3f}".rjust(widths[group]) for group in groups)
        print(f"  {name:14}{cells}   {low:.3f} to {high:.3f}")
