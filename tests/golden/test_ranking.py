"""Queries and their judgements over a small tree: `rank_stats.txt` shows the effect of every change to ranking.

`pytest tests/golden --update-golden` rewrites the file. Commit the difference.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from codesearch.index.snapshot import Snapshot
from codesearch.search.searcher import MODES, Searcher
from codesearch.types import Hit
from tests.conftest import search

HERE = Path(__file__).parent
STATS = HERE / "rank_stats.txt"
SHOWN = 3


def document_name(hit: Hit) -> str:
    return f"{hit.path} {hit.qualified_name}"


def reciprocal_rank(run: list[str], grades: dict[str, int]) -> float:
    """Return 1 / rank of the first document of the highest grade, or 0."""
    best = max(grades.values())
    return next((1 / rank for rank, name in enumerate(run, 1) if grades.get(name) == best), 0.0)


def ndcg(run: list[str], grades: dict[str, int]) -> float:
    """Return NDCG over the whole run: gain 2^grade - 1, and 0 for documents without a grade."""
    gains = [2 ** grades.get(name, 0) - 1 for name in run]
    ideal = sorted((2**grade - 1 for grade in grades.values()), reverse=True)

    def discounted(values: list[int]) -> float:
        return sum(value / math.log2(rank + 1) for rank, value in enumerate(values, 1))

    return discounted(gains) / discounted(ideal)


def rank_stats(searcher: Searcher, qrels: dict[str, dict[str, int]]) -> str:
    lines = []
    summary = []
    for mode in MODES:
        lines.append(f"# {mode}")
        mrr, total = 0.0, 0.0
        for query, grades in qrels.items():
            hits = search(searcher, query, 100, mode=mode)
            run = [document_name(hit) for hit in hits]
            mrr += reciprocal_rank(run, grades) / len(qrels)
            total += ndcg(run, grades) / len(qrels)
            lines.append(f"\n{query}")
            for hit in hits[:SHOWN]:
                grade = grades.get(document_name(hit), 0)
                lines.append(f"  {hit.score:6.3f}  {'*' * grade or '.':3}  {document_name(hit)}")
        lines.append("")
        summary.append(f"{mode:8}  MRR {mrr:.3f}  NDCG {total:.3f}")
    return "\n".join([*summary, "", *lines]).rstrip() + "\n"


def test_rankings_are_those_of_the_golden_file(request: pytest.FixtureRequest, encoder, index_tree):
    qrels = json.loads((HERE / "queries.json").read_text("utf-8"))
    found = rank_stats(Searcher([index_tree(HERE / "tree")], encoder), qrels)
    if request.config.getoption("--update-golden"):
        STATS.write_text(found, "utf-8")
    assert found == STATS.read_text("utf-8"), "rankings changed: check them, then run with --update-golden"


def test_every_judged_document_is_in_the_tree(encoder, index_tree):
    index = index_tree(HERE / "tree")
    stored = Snapshot([index]).stored(range(index.manifest.documents))
    known = {f"{file.path} {row.qualified_name}" for _, file, row in stored}
    qrels = json.loads((HERE / "queries.json").read_text("utf-8"))
    assert {name for grades in qrels.values() for name in grades} <= known


def test_metrics_agree_with_values_worked_out_by_hand():
    grades = {"a": 3, "b": 1}
    assert reciprocal_rank(["b", "x", "a"], grades) == pytest.approx(1 / 3)
    assert reciprocal_rank(["b"], grades) == 0.0
    assert ndcg(["a", "b"], grades) == 1.0
    assert ndcg(["b", "a"], grades) == pytest.approx((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))
