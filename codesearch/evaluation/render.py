"""The result of a suite, or the difference of two results -> text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.significance import AVERAGE, Difference

_NAME_WIDTH = 18
_MOST_GROUPS = 13
"""With more groups than this, only their average is printed; the JSON has them all."""


def result_text(result: SuiteResult) -> str:
    """Return every metric of every system, and the time and memory of the run."""
    return "".join(f"{line}\n" for line in _result_lines(result))


def _result_lines(result: SuiteResult) -> Iterator[str]:
    what = "distinct results" if "answered_pairs" in result.details else "documents"
    yield f"{result.suite}: {result.judged_queries} judged queries, {result.documents:,} {what}"
    for metric, averages in next(iter(result.systems.values())).metrics.items():
        groups = list(averages) if len(averages) <= _MOST_GROUPS else [AVERAGE]
        yield f"\n{_row(metric, groups, groups)}   95% of average"
        for name, system in result.systems.items():
            low, high = system.ci95[metric][AVERAGE]
            values = [f"{system.metrics[metric][group]:.3f}" for group in groups]
            yield f"{_row(f'  {name}', groups, values)}   {low:.3f} to {high:.3f}"
        for name, average in result.published.get(metric, {}).items():
            values = [f"{average:.3f}" if group == AVERAGE else "" for group in groups]
            yield f"{_row(f'  {name}', groups, values)}   published, other pool"
    yield ""
    yield from _detail_lines(result)
    if result.seconds:
        yield f"\n{'stage':{_NAME_WIDTH}}{'seconds':>8}{'peak MB':>9}"
        for stage, seconds in result.seconds.items():
            yield f"  {stage:{_NAME_WIDTH - 2}}{seconds:8.1f}{result.rss_bytes.get(stage, 0) / 1e6:9.0f}"
        total, peak = sum(result.seconds.values()), max(result.rss_bytes.values(), default=0)
        yield f"  {'all':{_NAME_WIDTH - 2}}{total:8.1f}{peak / 1e6:9.0f}"


def _row(name: str, groups: Sequence[str], cells: Sequence[str]) -> str:
    aligned = (cell.rjust(max(8, len(group) + 2)) for group, cell in zip(groups, cells, strict=True))
    return name.ljust(_NAME_WIDTH) + "".join(aligned)


def _detail_lines(result: SuiteResult) -> Iterator[str]:
    details = result.details
    if covered := details.get("coverage"):
        found, judged = (sum(counts[key] for counts in covered.values()) for key in ("extracted", "judged"))
        yield f"  coverage    {found:,} of {judged:,} judged functions are documents with exactly these lines"
    if model := details.get("model"):
        yield f"  model       {model['name']} ({model['id']}) on {model['device']}"
    if query_ms := details.get("query_ms"):
        times = ", ".join(f"{name} {ms['p50']:.1f} / {ms['p95']:.1f}" for name, ms in query_ms.items())
        yield f"  query ms    p50 / p95: {times}"
    for key in ("by_language", "by_category"):
        if means := details.get(key):
            yield f"  {key.replace('_', ' ')}: {', '.join(f'{name} {mean:.3f}' for name, mean in means.items())}"
    if "answered_pairs" in details:
        yield f"  answered    {details['answered_pairs']} of {details['judged_pairs']} judged queries, by language"


def comparison_text(first: Path, second: Path, differences: Sequence[Difference]) -> str:
    """Return how much each system changed, and whether the change may be chance."""
    return "".join(f"{line}\n" for line in _comparison_lines(first, second, differences))


def _comparison_lines(first: Path, second: Path, differences: Sequence[Difference]) -> Iterator[str]:
    yield f"from {first} to {second}"
    for metric in dict.fromkeys(difference.metric for difference in differences):
        rows = [difference for difference in differences if difference.metric == metric]
        groups = [group for group in rows[0].first if group != AVERAGE]
        yield f"\n{_row(metric, groups, groups)}   average                      p"
        for row in rows:
            changes = _row(f"  {row.system}", groups, [f"{row.change(group):+.3f}" for group in groups])
            average = f"{row.first[AVERAGE]:.3f} to {row.second[AVERAGE]:.3f} ({row.change():+.3f})"
            yield f"{changes}   {average}  {row.p[AVERAGE]:6.4f}  {row.verdict()}"
    yield "\np: share of random swaps of the systems' scores with at least this difference (two-sided)"
