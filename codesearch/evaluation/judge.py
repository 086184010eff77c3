"""Index a folder, ask every system each query, and score the results. Every suite runs here.

The engine does all of it, as for any user. The index is in a temporary home and is deleted after the run, so each run
times a cold build and embeds all vectors again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.config import IndexOptions
from codesearch.encoding.encoder import Encoder
from codesearch.engine.engine import Engine
from codesearch.evaluation.metrics import DEPTH, score_answers, score_graded
from codesearch.evaluation.qrels import Qrels, QueryId, QueryScores, Run, judged
from codesearch.evaluation.result import SuiteResult, describe_encoder, distinct_queries, summarise
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.systems import System, systems_without
from codesearch.index.reader import IndexReader
from codesearch.search.request import Filters
from codesearch.search.searcher import Searcher
from codesearch.segments.store import DocumentRow, FileRecord

FUNCTIONS = ("function", "method")
"""Kinds that compete by default, because benchmarks of code search ask for functions."""
DocumentKey = Callable[[FileRecord, DocumentRow], str]
QueryFilters = Callable[[QueryId], Filters]


def _silent(stage: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How to run a suite.

    Attributes:
        home: has the suites' data below `cache/bench`. The index of a run is in a temporary folder.
        data: folder of the suite's data; None for the downloaded data.
        download: whether data that is not here may be downloaded.
        annotations: judgements that replace those of the suite.
        model: folder of a model bundle; None for the shipped one.
        device: where it runs.
        without: signals of the ranking that are turned off; see `systems.SIGNALS`.
        on_progress: called with the stage, the amount done and the total (both 0 if not known).
        clock: measures the stages of the run.
    """

    home: Path
    data: Path | None = None
    download: bool = False
    annotations: Path | None = None
    model: Path | None = None
    device: str = "auto"
    without: tuple[str, ...] = ()
    on_progress: Callable[[str, int, int], None] = _silent
    clock: StageClock = field(default_factory=StageClock)

    @property
    def cache(self) -> Path:
        """Return the folder that keeps the data of all suites between runs."""
        return self.home / "cache" / "bench"


def functions_of_language(query: QueryId) -> Filters:
    """Return a filter by which only functions in a query's language compete; its group is the language."""
    return Filters((query[0],), FUNCTIONS)


def everything(_: QueryId) -> Filters:
    """Return a filter by which all documents compete."""
    return Filters()


@dataclass(frozen=True, slots=True)
class Questions:
    """The queries of a suite, and how it scores the results of a system.

    Attributes:
        queries: id -> the query as it is asked.
        score: run -> scores of the judged queries.
        qrels: judgements, if there are any.
        filters: query_id -> which documents compete.
    """

    queries: Mapping[QueryId, str]
    score: Callable[[Run], QueryScores]
    qrels: Qrels = field(default_factory=dict)
    filters: QueryFilters = functions_of_language


def graded_questions(queries: Mapping[QueryId, str], qrels: Qrels) -> Questions:
    """Ask `queries` and all other queries that were judged, and score them by their grades."""
    scored = judged(qrels)
    asked = {query: query[1] for query in scored} | dict(queries)
    return Questions(asked, lambda run: score_graded(run, scored), qrels)


def answered_questions(
    queries: Mapping[QueryId, str],
    qrels: Qrels,
    found_at: Sequence[int],
    depth: int | None = None,
    filters: QueryFilters = functions_of_language,
) -> Questions:
    """Ask queries whose answers are all equally right; `metrics.score_answers` explains the numbers."""
    return Questions(queries, lambda run: score_answers(run, qrels, found_at, depth), qrels, filters)


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of a test collection: an open index, and the names of its documents in judgements.

    Attributes:
        index: the open index.
        encoder: its model.
        keys: doc_id of the index -> doc_id of judgements and runs.
        names: doc_id of judgements -> qualified name, for the documents that compete.
    """

    index: IndexReader
    encoder: Encoder
    keys: list[str]
    names: dict[str, str]


@contextmanager
def scratch_folder(suite: str, options: BenchOptions) -> Iterator[Path]:
    """Make a folder in the cache; it is deleted when the context ends."""
    options.cache.mkdir(parents=True, exist_ok=True)
    # Windows does not delete files that are still mapped.
    with tempfile.TemporaryDirectory(
        prefix=f"{suite}-", dir=options.cache, ignore_cleanup_errors=True
    ) as scratch:
        yield Path(scratch)


@contextmanager
def open_collection(
    root: Path,
    options: BenchOptions,
    key: DocumentKey,
    kinds: tuple[str, ...] = FUNCTIONS,
    walk: IndexOptions | None = None,
) -> Iterator[Collection]:
    """Index a folder, and keep the index open while the context lasts; `judge` explains the arguments."""
    with scratch_folder("home", options) as home:
        engine = Engine(home, model=options.model, device=options.device)
        with options.clock.stage("load"):
            encoder = engine.encoder()
        with options.clock.stage("index"):
            engine.index(
                root,
                walk or IndexOptions(),
                on_progress=lambda done: options.on_progress("index", done.done_bytes, done.total_bytes),
            )
        try:
            with engine.indexes() as (index,):
                yield _collection(index, encoder, key, kinds)
        finally:
            engine.close()


def _collection(index: IndexReader, encoder: Encoder, key: DocumentKey, kinds: tuple[str, ...]) -> Collection:
    found = Collection(index, encoder, [], {})
    for segment in index.segments:
        for file in segment.files:
            for row in segment.store.document_rows(file.first_doc, file.doc_count):
                found.keys.append(key(file, row))
                if row.kind in kinds:
                    found.names[found.keys[-1]] = row.qualified_name
    return found


def judge(
    suite: str,
    root: Path,
    ask: Callable[[Collection], Questions],
    *,
    key: DocumentKey,
    options: BenchOptions,
    details: Mapping[str, Any] | None = None,
    kinds: tuple[str, ...] = FUNCTIONS,
    walk: IndexOptions | None = None,
) -> SuiteResult:
    """Index a folder, run every query with every system, and score the results.

    Args:
        suite: its name.
        root: the folder.
        ask: makes the questions from what was indexed.
        key: gives the name of a document in judgements.
        options: how to run the suite.
        details: facts about the data to report.
        kinds: kinds of documents that compete.
        walk: settings of the walk.
    """
    runs: dict[str, Run] = {}
    times_ms = {}
    with open_collection(root, options, key, kinds, walk) as collection:
        questions = ask(collection)
        for system in systems_without(options.without):
            with options.clock.stage(f"query {system.name}"):
                runs[system.name], times_ms[system.name] = _run(collection, questions, system, options)
    with options.clock.stage("score"):
        systems = {name: summarise(questions.score(run)) for name, run in runs.items()}
    return SuiteResult(
        suite=suite,
        systems=systems,
        judged_queries=distinct_queries(systems),
        documents=len(collection.names),
        seconds=options.clock.seconds,
        rss_bytes=options.clock.rss_bytes,
        details={
            **(details or {}),
            "model": describe_encoder(collection.encoder),
            "coverage": _coverage(collection, questions.qrels),
            "query_ms": times_ms,
            "queries": len(questions.queries),
        },
        runs=runs,
        queries=questions.queries,
        qrels=questions.qrels,
        names=collection.names,
    )


def _run(
    collection: Collection, questions: Questions, system: System, options: BenchOptions
) -> tuple[Run, dict[str, float]]:
    """Run every query with one system; return the run, and p50 and p95 of milliseconds per query."""
    searcher = Searcher([collection.index], collection.encoder, system.config)
    run: Run = {}
    times_ms = []
    for number, (query, text) in enumerate(questions.queries.items(), 1):
        started = time.perf_counter()
        # Two definitions on the same lines have one address, so fetch more documents than are kept.
        ranked = searcher.rank(text, 2 * DEPTH, questions.filters(query), system.mode)
        times_ms.append(1000 * (time.perf_counter() - started))
        found = dict.fromkeys(collection.keys[place.doc_id] for place in ranked)
        run[query] = list(found)[:DEPTH]
        options.on_progress(f"query {system.name}", number, len(questions.queries))
    p50, p95 = np.percentile(times_ms, [50, 95]).round(2).tolist()
    return run, {"p50": p50, "p95": p95}


def _coverage(collection: Collection, qrels: Qrels) -> dict[str, dict[str, int]]:
    """Count, by group, the judged documents and those that are documents of the index."""
    documents: dict[str, set[str]] = {}
    for (group, _), grades in sorted(qrels.items()):
        documents.setdefault(group, set()).update(grades)
    return {
        group: {"judged": len(found), "extracted": len(found & collection.names.keys())}
        for group, found in documents.items()
    }


def merge(suite: str, parts: Sequence[SuiteResult]) -> SuiteResult:
    """Join the results of several folders, whose queries have different groups."""
    first = parts[0]
    systems = {
        name: summarise(
            {query: found for part in parts for query, found in part.systems[name].queries.items()}
        )
        for name in first.systems
    }
    return SuiteResult(
        suite=suite,
        systems=systems,
        judged_queries=distinct_queries(systems),
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
