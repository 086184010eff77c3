"""Scores of queries -> the result of a suite, its text and its JSON.

{"suite", "judged_queries", "documents", "seconds", "details",
 "command", "commit", "date", "machine", "versions",
 "queries": {"group": [..], "text": [..]},
 "systems": {name: {metric: {group: mean, "average": mean of the groups},
                    "ci95": {metric: {group: [low, high]}},
                    "scores": {metric: [one for each of "queries"]}}}}
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import codesearch
from codesearch.evaluation.data import QueryId, QueryScores, Run
from codesearch.evaluation.metrics import AVERAGE, bootstrap_intervals, group_means
from codesearch.processes import run_git
from codesearch.text.onnx import OnnxEncoder

Interval = tuple[float, float]
_NAME_WIDTH = 18
_MOST_GROUPS = 13
"""With more groups than this, only their average is printed; the JSON has them all."""
_PACKAGES = ("numpy", "onnxruntime", "torch", "hnswlib", "tree-sitter", "tokenizers")


@dataclass(frozen=True, slots=True)
class SystemResult:
    """The scores of one system: metric -> group -> mean and 95% interval, with the `average` of the groups."""

    metrics: dict[str, dict[str, float]]
    ci95: dict[str, dict[str, Interval]]
    queries: QueryScores  # From which the means come; empty in suites of too many queries.


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The result of a suite; the last four fields are not in its JSON."""

    suite: str
    systems: dict[str, SystemResult]
    judged_queries: int
    documents: int
    seconds: dict[str, float] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    queries: Mapping[QueryId, str] = field(default_factory=dict)  # As they were asked.
    names: dict[str, str] = field(default_factory=dict)  # doc_id -> identifier.
    # Metric -> system -> the average that a paper reports over another pool.
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def summarise(queries: QueryScores) -> SystemResult:
    """Make means and intervals of the scores of all queries, which must have the same metrics."""
    metrics = list(next(iter(queries.values()), {}))
    scores = {metric: {query: given[metric] for query, given in queries.items()} for metric in metrics}
    return SystemResult(
        metrics={metric: group_means(scores[metric]) for metric in metrics},
        ci95={metric: bootstrap_intervals(scores[metric]) for metric in metrics},
        queries=queries,
    )


def distinct_queries(systems: Mapping[str, SystemResult]) -> int:
    """Count the judged queries, which are the same for all systems; one that is asked in several groups is one."""
    return len({text for _, text in next(iter(systems.values())).queries})


def result_text(result: SuiteResult) -> str:
    """Return every metric of every system, and the time and memory of the run."""
    return "".join(f"{line}\n" for line in _result_lines(result))


def _result_lines(result: SuiteResult) -> Iterator[str]:
    yield f"{result.suite}: {result.judged_queries} judged queries, {result.documents:,} documents"
    for metric, averages in next(iter(result.systems.values())).metrics.items():
        groups = list(averages) if len(averages) <= _MOST_GROUPS else [AVERAGE]
        yield f"\n{row_text(metric, groups, groups)}   95% of average"
        for name, system in result.systems.items():
            low, high = system.ci95[metric][AVERAGE]
            values = [f"{system.metrics[metric][group]:.3f}" for group in groups]
            yield f"{row_text(f'  {name}', groups, values)}   {low:.3f} to {high:.3f}"
        for name, average in result.published.get(metric, {}).items():
            values = [f"{average:.3f}" if group == AVERAGE else "" for group in groups]
            yield f"{row_text(f'  {name}', groups, values)}   published, other pool"
    yield ""
    yield from _detail_lines(result)
    if result.seconds:
        yield f"\n{'stage':{_NAME_WIDTH}}{'seconds':>8}"
        for stage, seconds in {**result.seconds, "all": sum(result.seconds.values())}.items():
            yield f"  {stage:{_NAME_WIDTH - 2}}{seconds:8.1f}"


def row_text(name: str, groups: Sequence[str], cells: Sequence[str]) -> str:
    """Align a name and a cell for each group."""
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


def write_json(path: Path, result: SuiteResult, command: str) -> None:
    """Write a result, the command that made it and the environment. Each list of numbers or texts is one line."""
    queries = list(next(iter(result.systems.values())).queries)
    fields = {
        "suite": result.suite,
        "judged_queries": result.judged_queries,
        "documents": result.documents,
        "seconds": result.seconds,
        "details": result.details,
        "queries": {"group": [group for group, _ in queries], "text": [text for _, text in queries]},
        "systems": {
            name: {
                **system.metrics,
                "ci95": system.ci95,
                "scores": {
                    metric: [round(given[metric], 6) for given in system.queries.values()]
                    for metric in next(iter(system.queries.values()), {})
                },
            }
            for name, system in result.systems.items()
        },
        "command": command,
        **describe_environment(),
    }
    path.write_text(_dumped(fields, 0) + "\n", "utf-8")


def _dumped(value: Any, depth: int) -> str:  # noqa: ANN401 - any JSON.
    if isinstance(value, Mapping) and value:
        inner = (f"{json.dumps(str(name))}: {_dumped(part, depth + 1)}" for name, part in value.items())
        opening, closing = "{", "}"
    elif isinstance(value, list) and any(isinstance(part, list | Mapping) for part in value):
        inner = (_dumped(part, depth + 1) for part in value)
        opening, closing = "[", "]"
    else:
        return json.dumps(value)
    indent = "\n" + " " * (depth + 1)
    return f"{opening}{indent}{f',{indent}'.join(inner)}{indent[:-1]}{closing}"


def describe_environment() -> dict[str, Any]:
    """Return commit ("" outside a checkout), date, machine and versions."""
    versions = {"python": platform.python_version(), "codesearch-local": codesearch.__version__}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "commit": commit_of(Path(codesearch.__file__).parents[1]),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": versions,
    }


def describe_encoder(encoder: OnnxEncoder) -> dict[str, Any]:
    """Return the name, the id, the dimensions and the device of an encoder."""
    return {"name": encoder.name, "id": encoder.model_id, "dim": encoder.dim, "device": encoder.device}


def commit_of(checkout: Path) -> str:
    """Return the commit of a git checkout, with "-dirty" if it has changes; "" if it is none or git is missing."""
    if not (checkout / ".git").exists():
        return ""
    describe = ("describe", "--always", "--dirty", "--exclude=*")
    with suppress(OSError):
        return run_git(describe, str(checkout), os.environ, timeout_s=60).stdout.decode().strip()
    return ""


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
