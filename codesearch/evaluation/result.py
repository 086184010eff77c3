"""Scores of queries -> the result of a suite, and its JSON.

{"suite", "judged_queries", "documents", "seconds", "rss_bytes", "peak_rss_bytes", "details",
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
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import codesearch
from codesearch.evaluation.qrels import QueryId, QueryScores, Run
from codesearch.evaluation.significance import bootstrap_intervals, group_means
from codesearch.processes import run_git
from codesearch.text.encoder import Encoder

Interval = tuple[float, float]
_PACKAGES = ("numpy", "onnxruntime", "torch", "hnswlib", "tree-sitter", "tokenizers")


@dataclass(frozen=True, slots=True)
class SystemResult:
    """The scores of one system.

    Attributes:
        metrics: metric -> group -> mean over its queries; under `average`, the mean over groups.
        ci95: metric -> the same groups -> bounds of the 95% interval.
        queries: scores of each query, from which the means come; empty in suites of too many queries.
    """

    metrics: dict[str, dict[str, float]]
    ci95: dict[str, dict[str, Interval]]
    queries: QueryScores


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The result of a suite.

    Attributes:
        suite: its name.
        systems: by name; the product as it ships is `default`.
        judged_queries: queries with a relevant document in any language.
        documents: documents that competed.
        seconds: stage -> wall time.
        rss_bytes: stage -> peak memory of all processes.
        details: other facts about the run; must be JSON.
        runs: system -> results; not in the JSON.
        queries: id -> the query as it was asked; not in the JSON.
        names: doc_id -> identifier; not in the JSON.
        published: metric -> system -> the average that a paper reports over another pool; not in the JSON.
    """

    suite: str
    systems: dict[str, SystemResult]
    judged_queries: int
    documents: int
    seconds: dict[str, float] = field(default_factory=dict)
    rss_bytes: dict[str, int] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    queries: Mapping[QueryId, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
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


def write_json(path: Path, result: SuiteResult, command: str) -> None:
    """Write a result, the command that made it and the environment. Each list of numbers or texts is one line."""
    queries = list(next(iter(result.systems.values())).queries)
    fields = {
        "suite": result.suite,
        "judged_queries": result.judged_queries,
        "documents": result.documents,
        "seconds": result.seconds,
        "rss_bytes": result.rss_bytes,
        "peak_rss_bytes": max(result.rss_bytes.values(), default=0),
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


def describe_encoder(encoder: Encoder) -> dict[str, Any]:
    """Return the name, the id, the dimensions and the device of an encoder."""
    return {"name": encoder.name, "id": encoder.model_id, "dim": encoder.dim, "device": encoder.device}


def commit_of(checkout: Path) -> str:
    """Return the commit of a git checkout, with "-dirty" if it has changes; "" if it is none or git is missing."""
    if not (checkout / ".git").exists():
        return ""
    describe = ("describe", "--always", "--dirty", "--exclude=*")
    try:
        return run_git(describe, str(checkout), os.environ, timeout_s=60).stdout.decode().strip()
    except OSError:
        return ""


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
