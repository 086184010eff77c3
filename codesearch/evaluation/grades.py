"""Judgements -> scores.

Graded judgements are scored by CodeSearchNet's protocol. A query is asked in each language, so each pair of language
and query counts as one. NDCG "all" is over every result, and results without a judgement have no gain. NDCG "within"
removes these first. Only queries with a relevant document count.

Where every answer is equally right, the rank of the first one is scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from codesearch.evaluation.judge import Questions
from codesearch.evaluation.metrics import DEPTH, ndcg, ndcg_within, recall_at_k, reciprocal_rank
from codesearch.evaluation.qrels import Qrels, QueryId, Run, judged
from codesearch.evaluation.result import QueryScores, SuiteResult, summarise


def graded_questions(queries: Mapping[QueryId, str], qrels: Qrels) -> Questions:
    """Ask `queries` and all other queries that were judged.

    Args:
        queries: id -> the query as it is asked.
        qrels: judgements of all queries.
    """
    scored = judged(qrels)
    return Questions(
        queries={query: query[1] for query in scored} | dict(queries),
        score=lambda run: score_run(run, scored),
        qrels=qrels,
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


def score_answers(run: Run, qrels: Qrels, found_at: Sequence[int], depth: int | None = None) -> QueryScores:
    """Score each query by the rank of its first right answer; one that the run does not answer scores 0.

    Args:
        run: what was found.
        qrels: the right answers of each query; their grades do not matter.
        found_at: values of k for `recall_at_k`, which is 1 if any right answer is among the first k.
        depth: `mrr` counts answers among this many first results; None for all.
    """
    return {
        query: {
            "mrr": reciprocal_rank(run.get(query, []), right, depth),
            **{
                f"recall_at_{k}": float(not right.keys().isdisjoint(run.get(query, [])[:k])) for k in found_at
            },
        }
        for query, right in qrels.items()
    }
