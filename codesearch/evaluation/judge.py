"""Index a folder, ask every system each query, and score the results. Every suite runs here.

The engine does all of it, as for any user. The index is in a temporary home, so each run times a cold build. The
systems are the product with its defaults, and parts of it by settings that users have too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.config import IndexOptions, RankConfig
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import ConfigError
from codesearch.evaluation.data import Qrels, QueryId, QueryScores, Run, judged
from codesearch.evaluation.metrics import DEPTH, score_answers, score_graded
from codesearch.evaluation.result import SuiteResult, describe_encoder, distinct_queries, summarise
from codesearch.files import scratch_folder
from codesearch.search.ranking import AnalysedQuery, Ranking
from codesearch.search.request import Filters
from codesearch.search.screen import group_by_file, rank_files
from codesearch.search.searcher import Searcher
from codesearch.settings import HITS
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader
from codesearch.text.onnx import OnnxEncoder
from codesearch.types import FUNCTIONS

DocumentKey = Callable[[FileRecord, DocumentRow], str]
DEFAULT = "default"
SCREEN, COLUMNS = 18, 3
"""Rows of definitions that `query` shows on a terminal of 80 x 24, and how many of one file share a row in the mean."""
_FUSED = RankConfig(
    heuristics_count=0, file_diversity_penalty=0.0, file_support_weight=0.0, file_name_weight=0.0
)


@dataclass(frozen=True, slots=True)
class System:
    """A way to rank: a mode of the searcher and its weights."""

    name: str
    mode: str
    config: RankConfig = field(default_factory=RankConfig)


SYSTEMS = (
    System("bm25", "lexical", replace(_FUSED, name_weight=0.0, window_weight=0.0)),
    System("dense", "semantic", replace(_FUSED, name_weight=0.0)),
    System("fused", "hybrid", _FUSED),
    System(DEFAULT, "hybrid"),
)
"""Keywords alone (BM25F), vectors alone (exact cosine), both without heuristics, and the product as it ships."""


class StageClock:
    """Times stages one after the other; the time of a stage that is run several times is the sum."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the body of the context."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + time.perf_counter() - started, 3)


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How to run a suite: its data, the model and the systems that are compared."""

    home: Path
    data: Path | None = None
    model: Path | None = None
    device: str = "auto"
    systems: tuple[System, ...] = SYSTEMS
    on_progress: Callable[[str, int, int], None] = lambda *_: None
    """Called with the stage, the amount done and the total (both 0 if not known)."""
    clock: StageClock = field(default_factory=StageClock)


def functions_of_language(query: QueryId) -> Filters:
    """Return a filter by which only functions in a query's language compete; its group is the language."""
    return Filters((query[0],), FUNCTIONS)


@dataclass(frozen=True, slots=True)
class Questions:
    """The queries of a suite as they are asked, by id, and how it scores the results of a system."""

    queries: Mapping[QueryId, str]
    score: Callable[[Run], QueryScores]
    qrels: Qrels = field(default_factory=dict)


def graded_questions(queries: Mapping[QueryId, str], qrels: Qrels) -> Questions:
    """Ask `queries` and all other queries that were judged, and score them by their grades."""
    scored = judged(qrels)
    asked = {query: query[1] for query in scored} | dict(queries)
    return Questions(asked, lambda run: score_graded(run, scored), qrels)


def answered_questions(
    queries: Mapping[QueryId, str], qrels: Qrels, found_at: Sequence[int], depth: int | None = None
) -> Questions:
    """Ask queries whose answers are all equally right; `metrics.score_answers` explains the numbers."""
    return Questions(queries, lambda run: score_answers(run, qrels, found_at, depth), qrels)


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of a test collection: an open index, and the names of its documents in judgements."""

    index: IndexReader
    encoder: OnnxEncoder
    keys: list[str]  # doc_id of the index -> doc_id of judgements and runs.
    names: dict[str, str]  # doc_id of judgements -> qualified name, for the documents that compete.


@dataclass(frozen=True, slots=True)
class Tree:
    """A folder that a suite searches, and facts about it to report.

    `ask` makes the questions from what was indexed, and `key` the name of a document in judgements. All documents
    compete with `everything`, else the functions in a query's language; with `by_file`, files are ranked.
    """

    root: Path
    ask: Callable[[Collection], Questions]
    key: DocumentKey
    everything: bool = False
    by_file: bool = False
    walk: IndexOptions | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def open_collection(tree: Tree, options: BenchOptions) -> Iterator[Collection]:
    """Index a folder, and keep the index open while the context lasts."""
    with scratch_folder(options.home) as home:
        engine = Engine(home, model=options.model, device=options.device)
        with options.clock.stage("load"):
            encoder = engine.encoder()
        with options.clock.stage("index"):
            show = partial(options.on_progress, "index")
            engine.index(tree.root, tree.walk, on_progress=lambda x: show(x.done_bytes, x.total_bytes))
        try:
            with engine.session(Scope(), AS_INDEXED).indexes() as (index,):
                collection = Collection(index, encoder, [], {})
                for segment in index.segments:
                    for file in segment.files:
                        for row in segment.store.document_rows(file):
                            collection.keys.append(tree.key(file, row))
                            if tree.everything or row.kind in FUNCTIONS:
                                collection.names[collection.keys[-1]] = row.qualified_name
                yield collection
        finally:
            engine.close()


def judge(suite: str, trees: Iterable[Tree], options: BenchOptions) -> SuiteResult:
    """Index each folder, ask its queries with every system, and score the results.

    The queries of different folders must have different groups. If definitions were judged, `screen` is 1 for a query
    with a right one among those `on_screen`, else 0.
    """
    runs: dict[str, Run] = {system.name: {} for system in options.systems}
    scores: dict[str, QueryScores] = {name: {} for name in runs}
    screens: dict[str, QueryScores] = {name: {} for name in runs}
    queries: dict[QueryId, str] = {}
    names: dict[str, str] = {}
    parts: list[dict[str, Any]] = []
    for tree in trees:
        times_ms = {}
        with open_collection(tree, options) as collection:
            questions = tree.ask(collection)
            if not questions.queries:
                raise ConfigError(f"{tree.root}: there is nothing to ask", f"give the data of suite {suite}")
            for system in options.systems:
                with options.clock.stage(f"query {system.name}"):
                    found, shown, times = _run(collection, questions, system, tree, options)
                p50, p95 = np.percentile(times, [50, 95]).round(2).tolist()
                times_ms[system.name] = {"p50": p50, "p95": p95}
                runs[system.name] |= found
                screens[system.name] |= shown
        with options.clock.stage("score"):
            for name, run in runs.items():
                for query, of_query in questions.score(run).items():
                    scores[name][query] = of_query | screens[name].get(query, {})
        queries |= questions.queries
        names |= collection.names
        details = {
            "model": describe_encoder(collection.encoder),
            "coverage": _coverage(collection, questions.qrels),
            "query_ms": times_ms,
            "queries": len(questions.queries),
            "documents": len(collection.names),
        }
        parts.append({**tree.details, **details})
    if not parts:
        raise ConfigError(f"suite {suite} has no questions", "give other data")
    with options.clock.stage("score"):
        results = {name: summarise(of_system) for name, of_system in scores.items()}
    documents = sum(part["documents"] for part in parts)
    if len(parts) == 1:
        del parts[0]["documents"]  # The result has it.
    return SuiteResult(
        suite=suite,
        systems=results,
        judged_queries=distinct_queries(results),
        documents=documents,
        seconds=options.clock.seconds,
        details=parts[0] if len(parts) == 1 else {"model": parts[0]["model"], "parts": parts},
        runs=runs,
        queries=queries,
        names=names,
    )


def _run(
    collection: Collection, questions: Questions, system: System, tree: Tree, options: BenchOptions
) -> tuple[Run, QueryScores, list[float]]:
    """Run every query with one system; return the run, the scores `screen`, and the milliseconds of each query."""
    searcher = Searcher([collection.index], collection.encoder, system.config)
    run: Run = {}
    screens: QueryScores = {}
    times_ms = []
    for number, (query, text) in enumerate(questions.queries.items(), 1):
        filters = Filters() if tree.everything else functions_of_language(query)
        started = time.perf_counter()
        # Two definitions on the same lines have one address, so fetch more documents than are kept.
        analysed = searcher.analyse(text, system.mode, reports=system.name == DEFAULT)
        ranking = searcher.ranking(analysed, filters)
        if tree.by_file:
            ranking = rank_files(analysed.text, ranking, system.config, 2 * DEPTH)
        best = ranking.best(2 * DEPTH)
        times_ms.append(1000 * (time.perf_counter() - started))
        run[query] = list(dict.fromkeys(collection.keys[candidate.doc_id] for candidate in best))[:DEPTH]
        if (grades := questions.qrels.get(query)) and not tree.by_file:
            shown = on_screen(searcher, analysed, ranking)
            is_shown = any(grades.get(collection.keys[doc_id], 0) > 0 for doc_id in shown)
            screens[query] = {"screen": float(is_shown)}
        options.on_progress(f"query {system.name}", number, len(questions.queries))
    return run, screens, times_ms


def on_screen(searcher: Searcher, query: AnalysedQuery, ranking: Ranking) -> list[int]:
    """Return the doc_ids of the definitions that `query` chooses for a terminal of 80 x 24; not all may have a row."""
    files = group_by_file(query.words, ranking, searcher.config, HITS, SCREEN, COLUMNS)
    return [shown.doc_id for best in files for shown in (best, *best.others)]


def _coverage(collection: Collection, qrels: Qrels) -> dict[str, dict[str, int]]:
    documents: dict[str, set[str]] = {}
    for (group, _), grades in sorted(qrels.items()):
        documents.setdefault(group, set()).update(grades)
    return {
        group: {"judged": len(found), "extracted": len(found & collection.names.keys())}
        for group, found in documents.items()
    }
