"""Questions with an answer, and topics that a project does not have -> how well the confidence tells them apart.

    python -m benchmarks.confidence --repositories DIR --histories DIR --cosqa DIR [--fit]

The questions are those of the suites `repositories` and `histories`. `absent_topics.json` has topics that no repository
has, of which each repository gets twenty, and topics near the domain of one repository. Half of the repositories is for
fitting. The other half is judged, and CoSQA and smoke as well. `--fit` writes the weights to
`codesearch/search/confidence.json` and keeps the threshold.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import codesearch.search.confidence as confidence
from benchmarks.publish import record
from benchmarks.suites import cosqa
from benchmarks.suites.histories import TASKS
from benchmarks.suites.repositories import sources_of
from codesearch.evaluation.jsonl import read_jsonl
from codesearch.evaluation.judge import (
    BenchOptions,
    Collection,
    DocumentKey,
    functions_of_language,
    open_collection,
)
from codesearch.evaluation.qrels import Qrels, QueryId
from codesearch.evaluation.suites import SMOKE, named_document, smoke_judgements
from codesearch.search.ranking import Ranking
from codesearch.search.screen import rank_files
from codesearch.search.searcher import Searcher
from codesearch.text.bundle import SHIPPED, load_bundle
from training.cosqa import one_file

_ABSENT = Path(__file__).with_name("absent_topics.json")
_ANYWHERE = 20
_STEPS, _RATE, _L2 = 4_000, 0.5, 1e-4


@dataclass(frozen=True, slots=True)
class Asked:
    """A query.

    Attributes:
        source: the repository or the suite.
        kind: "question", "commit", "anywhere" or "near"; the last two have no answer.
        features: None if the confidence is 1 without them, because the query names something.
        is_first: the first hit is an answer.
        is_found: one of the first ten hits is an answer.
    """

    source: str
    kind: str
    features: tuple[float, ...] | None
    is_first: bool = False
    is_found: bool = False


def main() -> None:
    """Measure the calibration; with `--fit`, make it first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True, help="data of the suite repositories")
    parser.add_argument("--histories", type=Path, required=True, help="data of the suite histories")
    parser.add_argument("--cosqa", type=Path, required=True, help="data of the suite cosqa")
    parser.add_argument("--fit", action="store_true", help="fit the weights first")
    arguments = parser.parse_args()
    asked = [*_of_repositories(arguments.repositories), *_of_histories(arguments.histories)]
    for_fitting = set(sorted({one.source for one in asked})[::2])
    if arguments.fit:
        _fit([one for one in asked if one.source in for_fitting])
    judged = [one for one in asked if one.source not in for_fitting]
    rows = {
        "repositories and histories": _judge(judged),
        "smoke": _judge(list(_of_smoke())),
        "cosqa": _judge(list(_of_cosqa(arguments.cosqa))),
    }
    record("confidence", {"calibration": asdict(confidence.shipped_calibration()), "rows": rows}, flat=True)


def _judge(asked: list[Asked]) -> dict[str, dict[str, float]]:
    """Count, of each group of queries, those below the threshold of the note and those below .5."""
    groups = {
        "first hit is right": [one for one in asked if one.is_first],
        "right hit in the first ten": [one for one in asked if one.is_found],
        "absent": [one for one in asked if one.kind in ("anywhere", "near")],
        "absent, near the domain": [one for one in asked if one.kind == "near"],
    }
    calibration = confidence.shipped_calibration()
    judged = {}
    for name, of_group in groups.items():
        found = np.array([calibration.confidence(one.features) if one.features else 1.0 for one in of_group])
        if len(found):
            judged[name] = {
                "queries": len(found),
                "below_threshold": round(float((found < calibration.threshold).mean()), 3),
                "below_half": round(float((found < 0.5).mean()), 3),
            }
    return judged


def _fit(asked: list[Asked]) -> None:
    """Fit a logistic regression by gradient descent and write it; both classes have the same weight."""
    answered = [one.features for one in asked if one.is_first and one.features]
    absent = [one.features for one in asked if one.kind in ("anywhere", "near") and one.features]
    rows = np.array(answered + absent)
    right = np.repeat([1.0, 0.0], [len(answered), len(absent)])
    share = np.repeat([0.5 / len(answered), 0.5 / len(absent)], [len(answered), len(absent)])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    scaled = (rows - mean) / deviation
    weights, intercept = np.zeros(scaled.shape[1]), 0.0
    for _ in range(_STEPS):
        error = share * (1 / (1 + np.exp(-(scaled @ weights + intercept))) - right)
        weights -= _RATE * (error @ scaled + _L2 * weights)
        intercept -= _RATE * error.sum()
    weights /= deviation
    fitted = replace(
        confidence.shipped_calibration(),
        model=load_bundle(SHIPPED).model_id,
        intercept=round(float(intercept - weights @ mean), 4),
        weights=tuple(round(float(weight), 4) for weight in weights),
    )
    path = Path(confidence.__file__).with_suffix(".json")
    path.write_text(json.dumps(asdict(fitted)) + "\n")
    confidence.shipped_calibration.cache_clear()


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
    analysed = searcher.analyse(text)
    ranking = searcher.ranking(analysed)
    files = rank_files(analysed.text, ranking, searcher.config, 10).best(10)
    right = [
        any(
            path == known or f"/{path}".endswith(f"/{known}") or f"/{known}".endswith(f"/{path}")
            for known in paths
        )
        for path in (collection.keys[place.doc_id] for place in files)
    ]
    return _outcome(source, ranking, right)


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
        right = [qrels[query].get(collection.keys[place.doc_id], 0) > 0 for place in ranking.best(10)]
        yield _outcome(source, ranking, right)


def _outcome(source: str, ranking: Ranking, right: list[bool]) -> Asked:
    is_certain = confidence.confidence_of(ranking, confidence.shipped_calibration().model) == 1.0
    features = None if is_certain else confidence.features(ranking)
    return Asked(source, "question", features, right[:1] == [True], any(right))


def _options(home: Path) -> BenchOptions:
    return BenchOptions(home=home, device="cpu")


@contextmanager
def _searcher(root: Path, key: DocumentKey) -> Iterator[tuple[Searcher, Collection]]:
    with (
        tempfile.TemporaryDirectory() as home,
        open_collection(root, key, _options(Path(home)), everything=True) as collection,
    ):
        yield Searcher([collection.index], collection.encoder), collection


if __name__ == "__main__":
    main()
