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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.errors import ConfigError
from codesearch.evaluation.qrels import Qrels, QueryId, Run
from codesearch.evaluation.significance import bootstrap_intervals, group_means

QueryScores = dict[QueryId, dict[str, float]]
"""query_id -> metric -> score, higher is better."""
Interval = tuple[float, float]


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
        qrels: their judgements; not in the JSON.
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
    queries: dict[QueryId, str] = field(default_factory=dict)
    qrels: Qrels = field(default_factory=dict)
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


def to_json(result: SuiteResult) -> dict[str, Any]:
    """Return a result as JSON data."""
    return {
        "suite": result.suite,
        "judged_queries": result.judged_queries,
        "documents": result.documents,
        "seconds": result.seconds,
        "rss_bytes": result.rss_bytes,
        "peak_rss_bytes": max(result.rss_bytes.values(), default=0),
        "details": result.details,
        "queries": {
            "group": [group for group, _ in _query_ids(result)],
            "text": [text for _, text in _query_ids(result)],
        },
        "systems": {name: _system_json(system) for name, system in result.systems.items()},
    }


def _query_ids(result: SuiteResult) -> list[QueryId]:
    """List the judged queries, which are the same for all systems."""
    return list(next(iter(result.systems.values())).queries)


def _system_json(system: SystemResult) -> dict[str, Any]:
    scores = {
        metric: [round(given[metric], 6) for given in system.queries.values()]
        for metric in next(iter(system.queries.values()), {})
    }
    return {**system.metrics, "ci95": system.ci95, "scores": scores}


def write_json(path: Path, fields: Mapping[str, Any]) -> None:
    """Write a result's JSON, each list of numbers or texts on one line."""
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


def read_queries_json(path: Path) -> tuple[str, dict[str, QueryScores]]:
    """Read a result's JSON back: the suite, and for each system the scores of its queries.

    Raises:
        ConfigError: the file is missing or has another format.
    """
    try:
        fields = json.loads(path.read_text("utf-8"))
        ids = list(zip(fields["queries"]["group"], fields["queries"]["text"], strict=True))
        systems = {name: _query_scores(ids, system["scores"]) for name, system in fields["systems"].items()}
        return str(fields["suite"]), systems
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: give what `codesearch bench --json` wrote") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not what `codesearch bench --json` writes ({error!r})") from None


def _query_scores(ids: list[QueryId], scores: Mapping[str, list[float]]) -> QueryScores:
    rows = zip(*scores.values(), strict=True)
    return {
        query: dict(zip(scores, map(float, row), strict=True)) for query, row in zip(ids, rows, strict=True)
    }
