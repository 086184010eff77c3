"""Questions about a folder of sources -> what a suite reports: the product's own path, by every system."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pool import DocumentKey, Pool, describe_pool, open_pool, run_systems
from codesearch.evaluation.qrels import Qrels, QueryId, Run
from codesearch.evaluation.result import QueryScores, SuiteResult, summarise
from codesearch.evaluation.stages import StageClock


@dataclass(frozen=True, slots=True)
class Questions:
    """What a suite asks, id -> the query as it is asked, and how what one system found is scored."""

    queries: dict[QueryId, str]
    score: Callable[[Run], QueryScores]
    qrels: Qrels = field(default_factory=dict)


@contextmanager
def scratch_folder(suite: str, options: BenchOptions) -> Iterator[Path]:
    """Make a folder for a suite to write its sources to, in the cache, gone when the context ends."""
    options.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{suite}-", dir=options.cache) as scratch:
        yield Path(scratch)


def judge(
    suite: str,
    root: Path,
    ask: Callable[[Pool], Questions],
    *,
    key: DocumentKey,
    options: BenchOptions,
    clock: StageClock,
    details: Mapping[str, Any],
) -> SuiteResult:
    """Index a folder, ask every system every question, and score what it finds.

    Args:
        suite: its name.
        root: the folder.
        ask: gives the questions, knowing what was indexed.
        key: how the answers are called.
        options: model, device and what shapes the index.
        clock: gets the stages.
        details: what to tell about the data.
    """
    with open_pool(root, options, clock, key) as pool:
        questions = ask(pool)
        runs, times_ms = run_systems(pool, questions.queries, options, clock)
        known = {**details, **describe_pool(pool), "query_ms": times_ms, "queries": len(questions.queries)}
        known["functions_extracted"] = len(pool.names)
        names = pool.names
    with clock.stage("score"):
        systems = {name: summarise(questions.score(run)) for name, run in runs.items()}
    return SuiteResult(
        suite=suite,
        systems=systems,
        judged_queries=len(questions.queries),
        documents=len(names),
        seconds=clock.seconds,
        rss_bytes=clock.rss_bytes,
        details=known,
        runs=runs,
        queries=questions.queries,
        qrels=questions.qrels,
        names=names,
    )
