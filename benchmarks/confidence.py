"""Questions with an answer, and topics that a project does not have -> how well the confidence tells them apart.

    python -m benchmarks.confidence --repositories DIR --histories DIR --applications DIR --cosqa DIR [--fit]

The questions are those of the suites `repositories`, `histories`, `known-items` (Python) and `applications`.
`absent_topics.json` has topics that no repository has, of which each gets twenty, topics near the domain of one
repository, and topics that share words with one. Half of the repositories and of the questions is for fitting, without
commits, whose subjects ask for nothing. The other half is judged, and CoSQA and smoke as well. `--fit` writes the
weights to `codesearch/search/confidence.json` and keeps the threshold.
"""

from __future__ import annotations

import argparse
import json
import random
import sysconfig
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import codesearch.search.confidence as confidence
from benchmarks.publish import record
from benchmarks.suites import applications, cosqa
from benchmarks.suites.histories import TASKS
from benchmarks.suites.repositories import sources_of
from codesearch.config import IndexOptions
from codesearch.evaluation.jsonl import read_jsonl
from codesearch.evaluation.judge import (
    SCREEN,
    BenchOptions,
    Collection,
    DocumentKey,
    Questions,
    Tree,
    functions_of_language,
    on_screen,
    open_collection,
)
from codesearch.evaluation.qrels import Qrels, QueryId
from codesearch.evaluation.suites import SMOKE, named_document, read_questions, smoke_judgements
from codesearch.search.ranking import Ranking
from codesearch.search.searcher import Searcher
from codesearch.text.bundle import SHIPPED, load_bundle
from training.evaluation.pairs import one_file

_ABSENT = Path(__file__).with_name("absent_topics.json")
_ABSENT_KINDS = ("anywhere", "near", "shared")
_ANYWHERE = 20
"""Definitions that a terminal of 24 rows shows."""
HIGH = 0.78
"""A confidence from which on the documentation calls it high."""
_STEPS, _RATE, _L2 = 4_000, 0.5, 1e-4


@dataclass(frozen=True, slots=True)
class Asked:
    """A query.

    Attributes:
        source: the repository or the suite.
        kind: "question", "commit", or one of `_ABSENT_KINDS`, which have no answer.
        features: None if the confidence is 1 without them, because the query names something.
        is_shown: the first screen has an answer.
    """

    source: str
    kind: str
    features: confidence.Features | None
    is_shown: bool = False


def main() -> None:
    """Measure the calibration; with `--fit`, make it first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True, help="data of the suite repositories")
    parser.add_argument("--histories", type=Path, required=True, help="data of the suite histories")
    parser.add_argument("--applications", type=Path, required=True, help="data of the suite applications")
    parser.add_argument("--cosqa", type=Path, required=True, help="data of the suite cosqa")
    parser.add_argument("--fit", action="store_true", help="fit the weights first")
    arguments = parser.parse_args()
    asked = [
        *_of_repositories(arguments.repositories),
        *_of_histories(arguments.histories),
        *_of_known_items(),
        *_of_applications(arguments.applications),
    ]
    others = sorted({one.source for one in asked}.difference(applications.HALVES))
    for_fitting = {*others[::2], applications.HALVES[0]}
    if arguments.fit:
        _fit([one for one in asked if one.source in for_fitting])
    judged = [one for one in asked if one.source not in for_fitting]
    rows = {
        "repositories, histories, known items and applications": _judge(judged),
        "smoke": _judge(list(_of_smoke())),
        "cosqa": _judge(list(_of_cosqa(arguments.cosqa))),
    }
    record("confidence", {"calibration": asdict(confidence.shipped_calibration()), "rows": rows}, flat=True)


def _judge(asked: list[Asked]) -> dict[str, dict[str, float]]:
    """Give, of each group of queries, the share with a note and the share with a high confidence."""
    with_answer = [one for one in asked if one.kind not in _ABSENT_KINDS]
    groups = {
        "shown": [one for one in with_answer if one.is_shown],
        "not shown": [one for one in with_answer if not one.is_shown],
        "shown, without commits": [one for one in with_answer if one.is_shown and one.kind != "commit"],
        "not shown, without commits": [
            one for one in with_answer if not one.is_shown and one.kind != "commit"
        ],
        "absent": [one for one in asked if one.kind in _ABSENT_KINDS],
        **{f"absent, {kind}": [one for one in asked if one.kind == kind] for kind in _ABSENT_KINDS},
    }
    calibration = confidence.shipped_calibration()
    judged = {}
    for name, of_group in groups.items():
        found = np.array(
            [calibration.confidence(one.features) if one.features else (1.0, 1.0) for one in of_group]
        )
        if len(found):
            judged[name] = {
                "queries": len(found),
                "note": round(float((found[:, 1] < calibration.threshold).mean()), 3),
                "high": round(float((found[:, 0] >= HIGH).mean()), 3),
            }
    return judged


def _fit(asked: list[Asked]) -> None:
    """Fit both regressions and write them."""
    known = [(one, one.features) for one in asked if one.features]
    subject = _regression(
        [(features.cosine, features.missing) for _, features in known],
        [one.kind not in _ABSENT_KINDS for one, _ in known],
    )
    present = [(one, features) for one, features in known if one.kind == "question"]
    screen = _regression(
        [(features.cosine, features.gap) for _, features in present],
        [one.is_shown for one, _ in present],
    )
    fitted = replace(
        confidence.shipped_calibration(),
        model=load_bundle(SHIPPED).model_id,
        subject=subject,
        screen=screen,
    )
    path = Path(confidence.__file__).with_suffix(".json")
    path.write_text(json.dumps(asdict(fitted)) + "\n")
    confidence.shipped_calibration.cache_clear()


def _regression(values: list[tuple[float, float]], right: list[bool]) -> list[float]:
    """Fit a logistic regression by gradient descent: intercept and weights."""
    rows, labels = np.array(values), np.array(right, dtype=float)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    scaled = (rows - mean) / deviation
    weights, intercept = np.zeros(scaled.shape[1]), 0.0
    for _ in range(_STEPS):
        error = (1 / (1 + np.exp(-(scaled @ weights + intercept))) - labels) / len(labels)
        weights -= _RATE * (error @ scaled + _L2 * weights)
        intercept -= _RATE * error.sum()
    weights /= deviation
    return [round(float(value), 4) for value in (intercept - weights @ mean, *weights)]


def _of_repositories(data: Path) -> Iterator[Asked]:
    topics = json.loads(_ABSENT.read_text("utf-8"))
    chosen = random.Random(0)
    with tempfile.TemporaryDirectory() as scratch:
        sources = sources_of(data, Path(scratch), _options(Path(scratch)))
        for listed in sorted(
            json.loads((data / "repos.json").read_bytes()), key=lambda one: str(one["name"])
        ):
            name = listed["name"]
            absent = {
                "anywhere": chosen.sample(topics["anywhere"], _ANYWHERE),
                "near": topics["near"].get(name, []),
                "shared": topics["shared"].get(name, []),
            }
            with _searcher(sources / name, lambda file, _: file.path) as (searcher, collection):
                for question in json.loads((data / "annotations" / f"{name}.json").read_bytes()):
                    answers = [*question["relevant"], *question["secondary"]]
                    paths = {str(one["path"] if isinstance(one, dict) else one) for one in answers}
                    yield _asked(searcher, collection, name, question["query"], paths)
                for kind, of_kind in absent.items():
                    for topic in of_kind:
                        yield replace(_asked(searcher, collection, name, topic, set()), kind=kind)


def _of_histories(data: Path) -> Iterator[Asked]:
    tasks: dict[str, list[dict[str, Any]]] = {}
    for _, task in read_jsonl(data / TASKS):
        tasks.setdefault(task["tree"], []).append(task)
    with tempfile.TemporaryDirectory() as scratch:
        sources = sources_of(data, Path(scratch), _options(Path(scratch)))
        for tree, of_tree in tasks.items():
            with _searcher(sources / tree, lambda file, _: file.path) as (searcher, collection):
                for task in of_tree:
                    paths = {answer["path"] for answer in task["answers"]}
                    found = _asked(
                        searcher, collection, f"history of {tree.partition('@')[0]}", task["query"], paths
                    )
                    yield replace(found, kind="commit")


def _asked(searcher: Searcher, collection: Collection, source: str, text: str, paths: set[str]) -> Asked:
    """Ask for files."""
    ranking, shown = _on_screen(searcher, collection, text)
    is_shown = any(
        path == known or f"/{path}".endswith(f"/{known}") or f"/{known}".endswith(f"/{path}")
        for path in shown
        for known in paths
    )
    return _outcome(source, ranking, is_shown)


def _on_screen(searcher: Searcher, collection: Collection, text: str) -> tuple[Ranking, set[str]]:
    """Ask, and return the keys of the definitions that `codesearch query` shows in a terminal."""
    analysed = searcher.analyse(text)
    ranking = searcher.ranking(analysed)
    return ranking, {collection.keys[doc_id] for doc_id in on_screen(searcher, analysed, ranking)}


def _of_smoke() -> Iterator[Asked]:
    qrels = smoke_judgements()
    with _searcher(SMOKE / "sources", named_document) as (searcher, collection):
        yield from _of_functions(searcher, collection, "smoke", {query: query[1] for query in qrels}, qrels)


def _of_cosqa(data: Path) -> Iterator[Asked]:
    functions = cosqa.read_functions(one_file(data, cosqa.CODEBASE))
    queries, qrels = cosqa.read_queries(one_file(data, cosqa.QUERIES), functions)
    with tempfile.TemporaryDirectory() as root:
        cosqa.write_tree(Path(root), functions)
        with _searcher(Path(root), cosqa.document_key) as (searcher, collection):
            yield from _of_functions(searcher, collection, "cosqa", queries, qrels)


def _of_functions(
    searcher: Searcher, collection: Collection, source: str, queries: Mapping[QueryId, str], qrels: Qrels
) -> Iterator[Asked]:
    """Ask for functions of the language of each query."""
    for query, text in queries.items():
        ranking = searcher.ranking(searcher.analyse(text), functions_of_language(query))
        shown = {collection.keys[place.doc_id] for place in ranking.best(SCREEN)}
        yield _outcome(source, ranking, any(qrels[query].get(key, 0) > 0 for key in shown))


def _of_known_items() -> Iterator[Asked]:
    """Ask for definitions of the running interpreter's library; every second question is of another source."""
    queries, answers = read_questions("python")
    root = Path(sysconfig.get_path("stdlib")).resolve()
    with _searcher(root, lambda file, row: f"{file.path}:{row.name}", ("site-packages",)) as (
        searcher,
        collection,
    ):
        for number, (query, text) in enumerate(queries.items()):
            ranking, shown = _on_screen(searcher, collection, text)
            yield _outcome(f"known items {number % 2}", ranking, bool(shown & answers[query]))


def _of_applications(data: Path) -> Iterator[Asked]:
    asked = {half: applications.read_questions(half) for half in applications.HALVES}
    for package in sorted(asked[applications.HALVES[0]]):
        root = (data / "packages" / package).resolve()
        with _searcher(root, applications.document_key) as (searcher, collection):
            for half, of_half in asked.items():
                for text, answer in of_half.get(package, {}).items():
                    ranking, shown = _on_screen(searcher, collection, text)
                    yield _outcome(half, ranking, answer in shown)


def _outcome(source: str, ranking: Ranking, is_shown: bool) -> Asked:
    found = confidence.confidence_of(ranking, confidence.shipped_calibration().model)
    features = None if found and found.answer == 1.0 else confidence.features(ranking)
    return Asked(source, "question", features, is_shown)


def _options(home: Path) -> BenchOptions:
    return BenchOptions(home=home, device="cpu")


@contextmanager
def _searcher(
    root: Path, key: DocumentKey, exclude: tuple[str, ...] = ()
) -> Iterator[tuple[Searcher, Collection]]:
    # The queries are asked one by one.
    tree = Tree(root, lambda _: Questions({}, dict), key, everything=True, walk=IndexOptions(exclude=exclude))
    with (
        tempfile.TemporaryDirectory() as home,
        open_collection(tree, _options(Path(home))) as collection,
    ):
        yield Searcher([collection.index], collection.encoder), collection


if __name__ == "__main__":
    main()
