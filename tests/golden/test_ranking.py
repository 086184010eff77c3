"""Queries and their judgements over a small tree: `rank_stats.txt` shows the effect of every change to ranking.

`pytest tests/golden --update-golden` rewrites the file. Commit the difference.
"""

import json
from pathlib import Path

from codesearch.config import MODES
from codesearch.evaluation.metrics import ndcg, reciprocal_rank
from codesearch.search.searcher import Searcher
from codesearch.store.snapshot import Snapshot
from codesearch.types import Hit
from tests.conftest import search

HERE = Path(__file__).parent
STATS = HERE / "rank_stats.txt"
SHOWN = 3


def document_name(hit: Hit) -> str:
    return f"{hit.path} {hit.qualified_name}"


def rank_stats(searcher: Searcher, qrels: dict[str, dict[str, int]]) -> str:
    lines = []
    summary = []
    for mode in MODES:
        lines.append(f"# {mode}")
        mrr, total = 0.0, 0.0
        for query, grades in qrels.items():
            hits = search(searcher, query, 100, mode=mode)
            run = [document_name(hit) for hit in hits]
            best = max(grades.values())
            mrr += reciprocal_rank(run, {name for name, grade in grades.items() if grade == best}) / len(
                qrels
            )
            total += ndcg(run, grades) / len(qrels)
            lines.append(f"\n{query}")
            for hit in hits[:SHOWN]:
                grade = grades.get(document_name(hit), 0)
                lines.append(f"  {hit.score:6.3f}  {'*' * grade or '.':3}  {document_name(hit)}")
        lines.append("")
        summary.append(f"{mode:8}  MRR {mrr:.3f}  NDCG {total:.3f}")
    return "\n".join([*summary, "", *lines]).rstrip() + "\n"


def test_rankings_are_those_of_the_golden_file(request, encoder, index_tree):
    qrels = json.loads((HERE / "queries.json").read_text("utf-8"))
    found = rank_stats(Searcher([index_tree(HERE / "tree")], encoder), qrels)
    if request.config.getoption("--update-golden"):
        STATS.write_text(found, "utf-8")
    assert found == STATS.read_text("utf-8"), "rankings changed: check them, then run with --update-golden"


def test_every_judged_document_is_in_the_tree(encoder, index_tree):
    index = index_tree(HERE / "tree")
    refs = Snapshot([index]).refs(range(index.manifest.documents))
    known = {f"{ref.path} {ref.row.qualified_name}" for ref in refs}
    qrels = json.loads((HERE / "queries.json").read_text("utf-8"))
    assert {name for grades in qrels.values() for name in grades} <= known
