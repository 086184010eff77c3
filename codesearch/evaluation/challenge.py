"""Queries, judgements and a folder of sources -> a `SuiteResult`, by CodeSearchNet's protocol.

A query is asked once a language, so language and query together count as one ("pair"). NDCG "all" takes every result
as it stands, the unjudged ones gaining nothing; "within" takes the unjudged ones out first. Only queries with a
relevant document count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.evaluation.approximate import approximation_loss
from codesearch.evaluation.metrics import DEPTH, ndcg, ndcg_within, recall_at_k
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pool import DocumentKey, coverage, describe_pool, open_pool, run_systems
from codesearch.evaluation.qrels import Qrels, QueryId, Run, judged
from codesearch.evaluation.result import QueryScores, SuiteResult, summarise
from codesearch.evaluation.stages import StageClock


@dataclass(frozen=True, slots=True)
class Challenge:
    """What is asked of which sources, and what is right.

    Attributes:
        suite: name of the suite.
        root: folder of the sources.
        queries: id -> the query as it is asked; what is judged and not among them is asked as well.
        qrels: judgements.
        key: how the judgements call a document.
        details: what to tell about the data.
    """

    suite: str
    root: Path
    queries: dict[QueryId, str]
    qrels: Qrels
    key: DocumentKey
    details: dict[str, Any] = field(default_factory=dict)


def run_challenge(challenge: Challenge, options: BenchOptions, clock: StageClock) -> SuiteResult:
    """Index the sources, ask every system every query, and score what it finds."""
    qrels = judged(challenge.qrels)
    queries = {query: query[1] for query in qrels} | challenge.queries
    with open_pool(challenge.root, options, clock, challenge.key) as pool:
        runs, times_ms = run_systems(pool, queries, options, clock)
        details = {
            **challenge.details,
            **describe_pool(pool),
            "coverage": coverage(pool, challenge.qrels),
            "approximation": approximation_loss(pool, queries.values()),
            "query_ms": times_ms,
            "asked_pairs": len(queries),
            "judged_pairs": len(qrels),
        }
        documents, names = len(pool.names), pool.names
    with clock.stage("score"):
        systems = {name: summarise(score_run(run, qrels)) for name, run in runs.items()}
    return SuiteResult(
        suite=challenge.suite,
        systems=systems,
        judged_queries=len({text for _, text in qrels}),
        documents=documents,
        seconds=clock.seconds,
        rss_bytes=clock.rss_bytes,
        details=details,
        runs=runs,
        queries=queries,
        qrels=qrels,
        names=names,
    )


def score_predictions(suite: str, name: str, run: Run, qrels: Qrels) -> SuiteResult:
    """Score results that come from a file."""
    qrels = judged(qrels)
    return SuiteResult(
        suite=suite,
        systems={name: summarise(score_run(run, qrels))},
        judged_queries=len({text for _, text in qrels}),
        documents=len({document for found in run.values() for document in found}),
        details={"judged_pairs": len(qrels), "answered_pairs": len(qrels.keys() & run.keys())},
        runs={name: run},
        qrels=qrels,
    )


def score_run(run: Run, qrels: Mapping[QueryId, Mapping[str, float]]) -> QueryScores:
    """Score each judged query; one that the run does not answer scores 0."""
    return {query: _score(run.get(query, []), grades) for query, grades in qrels.items()}


def _score(found: list[str], grades: Mapping[str, float]) -> dict[str, float]:
    return {
        "ndcg_all": ndcg(found, grades),
        "ndcg_within": ndcg_within(found, grades),
        "recall_at_10": recall_at_k(found, grades, 10),
        f"recall_at_{DEPTH}": recall_at_k(found, grades, DEPTH),
    }
