"""Suite `histories`: what a commit is for, in its author's words -> the functions that it changed.

The data is a folder with `tasks.jsonl` (`tree`, `commit`, `query` = the subject, `body`, `name_in_query`, and `answers`
with `path` and `start_line`) and `sources.tar.zst` with each tree before its commits below the name of the tree. A
folder `sources` with the unpacked archive replaces it. Each tree is indexed separately, and all its definitions
compete.

The groups are the subjects and, for the commits that have a body, subject and body; both apart for tasks whose text
names an answer. `acc_at_k` is 1 if all answers are among the first k, `hit_at_10` if any is among the first 10.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.suites.repositories import sources_of
from codesearch.evaluation.data import Qrels, QueryId, QueryScores, Run, query_id, read_jsonl
from codesearch.evaluation.judge import DEFAULT, BenchOptions, Questions, Tree, judge
from codesearch.evaluation.metrics import reciprocal_rank
from codesearch.evaluation.result import SuiteResult
from codesearch.files import scratch_folder

TASKS = "tasks.jsonl"
_FIELDS = ("tree", "commit", "query", "body", "name_in_query", "answers")
_ALL_WITHIN = (1, 5, 10)


def run(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, task in read_jsonl(data / TASKS, *_FIELDS):
        tasks[task["tree"]].append(task)
    with scratch_folder(options.home) as scratch:
        sources = sources_of(data, scratch, options)
        result = judge(
            "histories", [_tree(sources, tree, of_tree) for tree, of_tree in tasks.items()], options
        )
    scores = result.systems[DEFAULT].queries
    by: dict[str, list[float]] = defaultdict(list)
    for tree, of_tree in tasks.items():
        for task in of_tree:
            by[tree.partition("@")[0]].append(scores[_ids(task)["subject"]]["mrr"])
    means = {name: round(fmean(of), 4) for name, of in sorted(by.items())}
    return replace(result, details={**result.details, "subject_mrr_by_repository": means})


def _ids(task: dict[str, Any]) -> dict[str, QueryId]:
    """Return the ids of the questions of a task, by what is asked."""
    named = ", named" if task["name_in_query"] else ""
    asked = ["subject", *(["subject and body"] if task["body"].strip() else [])]
    return {what: query_id(f"{what}{named}", f"{task['tree']} {task['commit']}") for what in asked}


def _tree(sources: Path, name: str, tasks: list[dict[str, Any]]) -> Tree:
    queries, qrels = {}, {}
    for task in tasks:
        answers = {f"{answer['path']}:{answer['start_line']}": 1.0 for answer in task["answers"]}
        texts = {"subject": task["query"], "subject and body": f"{task['query']}\n\n{task['body']}"}
        for what, query in _ids(task).items():
            queries[query], qrels[query] = texts[what], answers
    questions = Questions(queries, lambda run: _scored(run, qrels), qrels)
    return Tree(
        sources / name,
        lambda _: questions,
        lambda file, row: f"{file.path}:{row.start_line}",
        everything=True,
        details={"tree": name},
    )


def _scored(run: Run, qrels: Qrels) -> QueryScores:
    return {
        query: {
            "mrr": reciprocal_rank(run[query], right),
            **{f"acc_at_{k}": float(right.keys() <= set(run[query][:k])) for k in _ALL_WITHIN},
            "hit_at_10": float(not right.keys().isdisjoint(run[query][:10])),
        }
        for query, right in qrels.items()
    }
