"""Questions about a folder of sources -> the result of a suite. Every suite over whole code runs here."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.evaluation.approximate import approximation_loss
from codesearch.evaluation.collection import (
    FUNCTIONS,
    Collection,
    DocumentKey,
    QueryFilters,
    coverage,
    describe_collection,
    functions_of_language,
    open_collection,
    run_systems,
)
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Qrels, QueryId, Run
from codesearch.evaluation.result import QueryScores, SuiteResult, summarise
from codesearch.evaluation.stages import StageClock


@dataclass(frozen=True, slots=True)
class Questions:
    """The queries of a suite, and how it scores the results of a system.

    Attributes:
        queries: id -> the query as it is asked.
        score: run -> scores of the judged queries.
        qrels: judgements, if there are any.
        filters: query_id -> which documents compete.
    """

    queries: dict[QueryId, str]
    score: Callable[[Run], QueryScores]
    qrels: Qrels = field(default_factory=dict)
    filters: QueryFilters = functions_of_language


@contextmanager
def scratch_folder(suite: str, options: BenchOptions) -> Iterator[Path]:
    """Make a folder in the cache for the sources of a suite; it is deleted when the context ends."""
    options.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{suite}-", dir=options.cache) as scratch:
        yield Path(scratch)


def judge(
    suite: str,
    root: Path,
    ask: Callable[[Collection], Questions],
    *,
    key: DocumentKey,
    options: BenchOptions,
    clock: StageClock,
    details: Mapping[str, Any] | None = None,
    kinds: tuple[str, ...] = FUNCTIONS,
) -> SuiteResult:
    """Index a folder, run every query with every system, and score the results.

    Args:
        suite: its name.
        root: the folder.
        ask: makes the questions from what was indexed.
        key: gives the name of a document in judgements.
        options: model, device and settings of the index.
        clock: measures the stages.
        details: facts about the data to report.
        kinds: kinds of documents that compete.
    """
    with open_collection(root, options, clock, key, kinds) as collection:
        questions = ask(collection)
        runs, times_ms = run_systems(collection, questions.queries, options, clock, questions.filters)
        known = {
            **(details or {}),
            **describe_collection(collection),
            "coverage": coverage(collection, questions.qrels),
            "approximation": approximation_loss(collection, questions.queries.values()),
            "query_ms": times_ms,
            "queries": len(questions.queries),
        }
        names = collection.names
    with clock.stage("score"):
        systems = {name: summarise(questions.score(run)) for name, run in runs.items()}
    return SuiteResult(
        suite=suite,
        systems=systems,
        judged_queries=_distinct(systems[next(iter(systems))].queries),
        documents=len(names),
        seconds=clock.seconds,
        rss_bytes=clock.rss_bytes,
        details=known,
        runs=runs,
        queries=questions.queries,
        qrels=questions.qrels,
        names=names,
    )


def merge(suite: str, parts: Sequence[SuiteResult]) -> SuiteResult:
    """Join the results of several folders, whose queries have different groups."""
    first = parts[0]
    systems = {
        name: summarise(
            {query: scores for part in parts for query, scores in part.systems[name].queries.items()}
        )
        for name in first.systems
    }
    return SuiteResult(
        suite=suite,
        systems=systems,
        judged_queries=_distinct(systems[next(iter(systems))].queries),
        documents=sum(part.documents for part in parts),
        seconds=first.seconds,
        rss_bytes=first.rss_bytes,
        details={
            "model": first.details["model"],
            "parts": [part.details | {"documents": part.documents} for part in parts],
        },
        runs={name: {q: run for part in parts for q, run in part.runs[name].items()} for name in systems},
        queries={query: text for part in parts for query, text in part.queries.items()},
        qrels={query: grades for part in parts for query, grades in part.qrels.items()},
        names={key: name for part in parts for key, name in part.names.items()},
    )


def _distinct(queries: QueryScores) -> int:
    """Count the distinct queries of all groups."""
    return len({text for _, text in queries})
