"""Suite `everyday`: what newcomers ask of libraries that they know, such as "send an email" of Django.

The questions were written from what people use the libraries for; the definitions were then looked up in the sources,
never in search results. A line of `everyday/HALF.tsv` has the package, the style of the question (keywords or
question), the file, the first line and the names of the answer, and the question. The names are that of the best
answer and path:line:name of up to three others and their mirrors, with "|" between. Overloads and copies of an answer
are right too.

The data is a folder of packages, as of the suite `applications`, from the recipe `everyday/sources.toml`. `everyday`
asks twelve libraries, and `everyday-end` twelve others, for final figures only. `everyday-large` asks Boost.

`recall_at_1` is the share of the questions whose first hit is right, and `file_mrr` ranks files by their first hits.
`confidence_auc`, in the details, says how well the confidence tells whether the first hit is right.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.suites.applications import fetch_cure, package_tree
from codesearch.errors import ConfigError
from codesearch.evaluation.data import Qrels, QueryId, QueryScores, Run, query_id
from codesearch.evaluation.judge import BenchOptions, Collection, Questions, Tree, judge
from codesearch.evaluation.metrics import score_answers
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.suites import KNOWN_DEPTH
from codesearch.search.confidence import confidence_of
from codesearch.search.searcher import Searcher
from codesearch.types import KINDS

HALVES = ("development", "end", "large")
FOLDER = Path(__file__).parents[1] / "everyday"
_FOUND_AT = (1, 10)
_MODULE = KINDS.index("module")


def run(data: Path, options: BenchOptions, suite: str = "everyday", half: str = "development") -> SuiteResult:
    """Run the suite with a half of the questions."""
    first_hits: list[tuple[float, bool]] = []
    trees = [
        _tree(data / "packages" / package, package, asked, first_hits)
        for package, asked in read_questions(half).items()
    ]
    result = judge(suite, trees, options)
    return replace(result, details={**result.details, "confidence_auc": area_under_curve(first_hits)})


def run_end(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite with the libraries for the end, which nothing is chosen by."""
    return run(data, options, "everyday-end", "end")


def run_large(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite with the very large library."""
    return run(data, options, "everyday-large", "large")


def _tree(
    root: Path, package: str, asked: Mapping[str, Sequence[str]], first_hits: list[tuple[float, bool]]
) -> Tree:
    def ask(collection: Collection) -> Questions:
        queries = {query_id(package, text): text for text in asked}
        qrels = answers(collection, {query: asked[text] for query, text in queries.items()})
        if missing := [asked[queries[query]] for query, right in qrels.items() if not right]:
            raise ConfigError(f"{root}: {missing[0][0]} is not in this version", fetch_cure(FOLDER))
        first_hits.extend(_first_hits(collection, queries, qrels))
        return Questions(queries, lambda run: _scored(run, qrels), qrels)

    return package_tree(root, package, ask, fetch_cure(FOLDER))


def answers(collection: Collection, written: Mapping[QueryId, Sequence[str]]) -> Qrels:
    """Return all definitions with the path and name of a written one, and their copies."""
    rows = [
        row for segment in collection.index.segments for row in segment.rows[["kind", "copy_key"]].tolist()
    ]
    named, copies = defaultdict(list), defaultdict(list)
    for key, (kind, copy_key) in zip(collection.keys, rows, strict=True):
        if kind != _MODULE:
            named[_without_line(key)].append(key if not copy_key else copy_key)
            copies[copy_key or key].append(key)
    return {
        query: {key: 1.0 for one in of_query for group in named[_without_line(one)] for key in copies[group]}
        for query, of_query in written.items()
    }


def _without_line(key: str) -> tuple[str, str]:
    path, _, name = key.split(":", 2)
    return path, name


def _first_hits(
    collection: Collection, queries: Mapping[QueryId, str], qrels: Qrels
) -> list[tuple[float, bool]]:
    """Return the confidence in each answer, and whether its first hit is right; none if the model has none."""
    searcher = Searcher([collection.index], collection.encoder)
    first_hits = []
    for query, text in queries.items():
        ranking = searcher.ranking(searcher.analyse(text))
        best = ranking.best(1)
        if best and (confidence := confidence_of(ranking, collection.encoder.model_id)):
            first_hits.append((confidence.answer, collection.keys[best[0].doc_id] in qrels[query]))
    return first_hits


def area_under_curve(scored: Sequence[tuple[float, bool]]) -> float | None:
    """Return the area under the ROC curve: how often a right one has a higher score than a wrong one; ties are half.

    >>> area_under_curve([(0.9, True), (0.2, False), (0.9, False)])
    0.75
    """
    right, wrong = (
        np.array([score for score, is_right in scored if is_right is label]) for label in (True, False)
    )
    if not len(right) or not len(wrong):
        return None
    return float(np.mean((1 + np.sign(right[:, None] - wrong)) / 2))


def _scored(run: Run, qrels: Qrels) -> QueryScores:
    scores = score_answers(run, qrels, _FOUND_AT, KNOWN_DEPTH)
    files = {query: list(dict.fromkeys(map(_path, run.get(query, [])))) for query in qrels}
    right = {query: {_path(key): 1.0 for key in grades} for query, grades in qrels.items()}
    of_files = score_answers(files, right, (), KNOWN_DEPTH)
    return {query: {**scores[query], "file_mrr": of_files[query]["mrr"]} for query in qrels}


def _path(key: str) -> str:
    return key.partition(":")[0]


def read_questions(half: str) -> dict[str, dict[str, list[str]]]:
    """Read the questions of a half: package -> question -> path:line:name of each answer."""
    questions: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for line in (FOLDER / f"{half}.tsv").read_text("utf-8").splitlines():
        package, _style, path, first_line, names, text = line.split("\t")
        best, *others = names.split("|")
        questions[package][text] = [f"{path}:{first_line}:{best}", *others]
    return questions
