"""Questions with an answer, and topics that a project does not have -> how well the confidence tells them apart.

    python -m benchmarks.confidence --repositories DIR --applications DIR --everyday DIR [--fit]

The questions are those of the suites `repositories`, `applications` and `everyday`. `absent_topics.json` has topics
that no repository has, of which each gets twenty, topics near the domain of one repository, and topics that share words
with one. Half of the repositories and the questions for development are for fitting; the others are judged. `--fit`
writes the weights to `codesearch/search/confidence.json` and keeps the threshold.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

import codesearch.search.confidence as confidence
from benchmarks.publish import record
from benchmarks.suites import applications, everyday
from benchmarks.suites.repositories import sources_of
from codesearch.config import IndexOptions
from codesearch.evaluation.data import query_id
from codesearch.evaluation.judge import (
    BenchOptions,
    Collection,
    DocumentKey,
    Questions,
    Tree,
    on_screen,
    open_collection,
)
from codesearch.search.ranking import Ranking
from codesearch.search.searcher import Searcher
from codesearch.text.bundle import SHIPPED, load_bundle

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
        kind: "question", "file" if only the file of the answer is known, or one of `_ABSENT_KINDS`: no answer.
        features: None if the confidence is 1 without them, because the query names something.
        is_right: the first hit is an answer.
    """

    source: str
    kind: str
    features: confidence.Features | None
    is_right: bool = False


def main() -> None:
    """Measure the calibration; with `--fit`, make it first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repositories", type=Path, required=True, help="data of the suite repositories")
    parser.add_argument("--applications", type=Path, required=True, help="data of the suite applications")
    parser.add_argument("--everyday", type=Path, required=True, help="data of the suite everyday")
    parser.add_argument("--fit", action="store_true", help="fit the weights first")
    arguments = parser.parse_args()
    asked = [
        *_of_repositories(arguments.repositories),
        *_of_packages(arguments.applications, applications.read_questions),
        *_of_packages(arguments.everyday, everyday.read_questions),
    ]
    others = sorted({one.source for one in asked}.difference(applications.HALVES))
    for_fitting = {*others[::2], applications.HALVES[0]}
    if arguments.fit:
        _fit([one for one in asked if one.source in for_fitting])
    judged = _judge([one for one in asked if one.source not in for_fitting])
    record("confidence", {"calibration": asdict(confidence.shipped_calibration()), "rows": judged}, flat=True)


def _judge(asked: list[Asked]) -> dict[str, dict[str, float | None]]:
    """Give, of each group of queries, the share with a note, the share that is right, and what the confidence says."""
    calibration = confidence.shipped_calibration()
    judged = {}
    for kind in ("question", "file", *_ABSENT_KINDS):
        of_kind = [one for one in asked if one.kind == kind]
        found = np.array(
            [calibration.confidence(one.features) if one.features else (1, 1) for one in of_kind]
        )
        right = [one.is_right for one in of_kind]
        judged[kind] = {
            "queries": len(of_kind),
            "note": round(float((found[:, 1] < calibration.threshold).mean()), 3),
            "confidence": round(float(found[:, 0].mean()), 3),
            "right": round(float(np.mean(right)), 3),
            "auc": everyday.area_under_curve(list(zip(found[:, 0].tolist(), right, strict=True))),
        }
    return judged


def _fit(asked: list[Asked]) -> None:
    """Fit both regressions and write them; the first hits are judged by definitions."""
    known = [(one, one.features) for one in asked if one.features]
    subject = _regression(
        [(features.cosine, features.missing) for _, features in known],
        [one.kind not in _ABSENT_KINDS for one, _ in known],
    )
    present = [(one, features) for one, features in known if one.kind == "question"]
    first = _regression([(features.gap,) for _, features in present], [one.is_right for one, _ in present])
    fitted = replace(
        confidence.shipped_calibration(),
        model=load_bundle(SHIPPED).model_id,
        subject=subject,
        first=first,
    )
    path = Path(confidence.__file__).with_suffix(".json")
    path.write_text(json.dumps(asdict(fitted)) + "\n")
    confidence.shipped_calibration.cache_clear()


def _regression(values: list[tuple[float, ...]], right: list[bool]) -> list[float]:
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


def _asked(searcher: Searcher, collection: Collection, source: str, text: str, paths: set[str]) -> Asked:
    """Ask for files."""
    ranking, shown = _first_hit(searcher, collection, text)
    is_right = any(
        shown == known or f"/{shown}".endswith(f"/{known}") or f"/{known}".endswith(f"/{shown}")
        for known in paths
    )
    return replace(_outcome(source, ranking, is_right), kind="file")


def _first_hit(searcher: Searcher, collection: Collection, text: str) -> tuple[Ranking, str]:
    """Ask, and return the key of the definition that `codesearch query` shows first."""
    analysed = searcher.analyse(text)
    ranking = searcher.ranking(analysed)
    return ranking, next((collection.keys[doc_id] for doc_id in on_screen(searcher, analysed, ranking)), "")


def _of_packages(
    data: Path, read_questions: Callable[[str], Mapping[str, Mapping[str, str | Sequence[str]]]]
) -> Iterator[Asked]:
    """Ask packages for definitions, each half as a source."""
    for half in applications.HALVES:
        for package, questions in read_questions(half).items():
            root = (data / "packages" / package).resolve()
            with _searcher(root, applications.document_key) as (searcher, collection):
                written = {
                    query_id(package, text): [right] if isinstance(right, str) else right
                    for text, right in questions.items()
                }
                qrels = everyday.answers(collection, written)
                for query in written:
                    ranking, shown = _first_hit(searcher, collection, query[1])
                    yield _outcome(half, ranking, shown in qrels[query])


def _outcome(source: str, ranking: Ranking, is_right: bool) -> Asked:
    found = confidence.confidence_of(ranking, confidence.shipped_calibration().model)
    features = None if found and found.answer == 1.0 else confidence.features(ranking)
    return Asked(source, "question", features, is_right)


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
