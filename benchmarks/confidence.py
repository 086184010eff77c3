"""Rankings with and without their answers -> how often the note of low confidence is right; or its calibration.

    python -m benchmarks.confidence --cosqa DIR --docstrings ROWS [--fit HELD_OUT_ROWS]

Each query is ranked three times: with all documents, without its answers, and also without all documents that are
similar to an answer (cosine at least .45). The last is needed because a similar function often answers the query too.
`--fit` fits the weights to the first and the last ranking, on rows that are not judged here. It writes them to
`codesearch/search/confidence.json` and keeps the threshold.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import codesearch.search.confidence as confidence
from benchmarks.publish import record
from codesearch.encoding.bundle import SHIPPED, load_bundle
from codesearch.evaluation.jsonl import one_file
from codesearch.evaluation.judge import (
    BenchOptions,
    Collection,
    DocumentKey,
    functions_of_language,
    open_collection,
)
from codesearch.evaluation.qrels import Qrels, QueryId
from codesearch.evaluation.suites import cosqa, smoke
from codesearch.index.reader import IndexReader
from codesearch.search.searcher import Searcher
from training.evaluation import docstrings
from training.evaluation.csn_mrr import files_of

_ALIKE = 0.45
_STEPS, _RATE, _L2 = 3_000, 0.5, 1e-3


@dataclass(frozen=True, slots=True)
class Rankings:
    """Features of the same queries' rankings, float [Q, F] each."""

    whole: NDArray[np.float64]
    without_answers: NDArray[np.float64]
    without_alike: NDArray[np.float64]


def main() -> None:
    """Measure the calibration; with `--fit`, make it first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cosqa", type=Path, required=True)
    parser.add_argument("--docstrings", type=Path, required=True, help="held-out functions")
    parser.add_argument("--fit", type=Path, help="other held-out functions")
    arguments = parser.parse_args()
    if arguments.fit:
        _fit(_of_docstrings(arguments.fit))
    rows = {
        "smoke": _judge(_of_smoke()),
        "cosqa": _judge(_of_cosqa(arguments.cosqa)),
        "docstrings": _judge(_of_docstrings(arguments.docstrings)),
    }
    record("confidence", {"calibration": asdict(confidence.shipped_calibration()), "rows": rows}, flat=True)


def _judge(found: Rankings) -> dict[str, dict[str, float]]:
    """Return precision and recall of the note, the share of answerable queries that get it, and the area under ROC."""
    calibration = confidence.shipped_calibration()
    confidences = {
        name: np.array([calibration.confidence(tuple(row)) for row in rows]) for name, rows in _parts(found)
    }
    whole = confidences.pop("whole")
    judged = {}
    for name, removed in confidences.items():
        right, wrong = (
            int((removed < calibration.threshold).sum()),
            int((whole < calibration.threshold).sum()),
        )
        above = (removed[:, None] < whole).mean() + (removed[:, None] == whole).mean() / 2
        judged[name] = {
            "queries": len(whole),
            "precision": round(right / max(right + wrong, 1), 3),
            "recall": round(right / len(removed), 3),
            "false_alarms": round(wrong / len(whole), 3),
            "auc": round(float(above), 3),
        }
    return judged


def _parts(found: Rankings) -> Iterator[tuple[str, NDArray[np.float64]]]:
    for name in ("whole", "without_answers", "without_alike"):
        yield name, getattr(found, name)


def _fit(found: Rankings) -> None:
    """Fit a logistic regression by gradient descent and write it."""
    rows = np.concatenate([found.whole, found.without_alike])
    answered = np.repeat([1.0, 0.0], [len(found.whole), len(found.without_alike)])
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    scaled = (rows - mean) / deviation
    weights, intercept = np.zeros(scaled.shape[1]), 0.0
    for _ in range(_STEPS):
        error = 1 / (1 + np.exp(-(scaled @ weights + intercept))) - answered
        weights -= _RATE * (error @ scaled / len(error) + _L2 * weights)
        intercept -= _RATE * error.mean()
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


def _of_smoke() -> Rankings:
    qrels = smoke.judgements(_options(Path()))
    with _collection(smoke.FOLDER / "sources", smoke.document_key) as collection:
        return _rankings(collection, {query: query[1] for query in qrels}, qrels)


def _of_cosqa(data: Path) -> Rankings:
    functions = cosqa.read_functions(one_file(data, cosqa.CODEBASE))
    queries, qrels = cosqa.read_queries(one_file(data, cosqa.QUERIES), functions)
    with tempfile.TemporaryDirectory() as root:
        cosqa.write_tree(Path(root), functions)
        with _collection(Path(root), cosqa.document_key) as collection:
            return _rankings(collection, queries, qrels)


def _of_docstrings(rows: Path) -> Rankings:
    functions = [function for file in files_of(rows) for function in docstrings.read_functions(file)]
    with tempfile.TemporaryDirectory() as root:
        docstrings.write_functions(Path(root), functions)
        with _collection(Path(root), lambda file, _: file.path) as collection:
            asked = docstrings.ask([function for function in functions if function.path in collection.names])
            return _rankings(collection, asked.queries, asked.qrels)


def _options(home: Path) -> BenchOptions:
    return BenchOptions(home=home, device="cpu")


@contextmanager
def _collection(root: Path, key: DocumentKey) -> Iterator[Collection]:
    with (
        tempfile.TemporaryDirectory() as home,
        open_collection(root, key, _options(Path(home))) as collection,
    ):
        yield collection


def _rankings(collection: Collection, queries: Mapping[QueryId, str], qrels: Qrels) -> Rankings:
    searcher = Searcher([collection.index], collection.encoder)
    doc_ids = defaultdict(set)
    for doc_id, key in enumerate(collection.keys):
        doc_ids[key].add(doc_id)
    rows = []
    for query, text in queries.items():
        answers = {doc for key, grade in qrels[query].items() if grade > 0 for doc in doc_ids[key]}
        if answers:
            rows.append(_of_query(searcher, collection.index, query, text, answers))
    return Rankings(*(np.array(part) for part in zip(*rows, strict=True)))


def _of_query(
    searcher: Searcher, index: IndexReader, query: QueryId, text: str, answers: set[int]
) -> tuple[tuple[float, ...], ...]:
    analysed = searcher.analyse(text)
    ranking = searcher.ranking(analysed, functions_of_language(query))
    found = [confidence.features(ranking, len(analysed.terms))]
    for removed in (answers, answers | _alike(index, answers)):
        ranking.scores[np.isin(ranking.doc_ids, list(removed))] = -np.inf
        for name in confidence.FEATURES[:2]:
            # The features read ten documents, so removed ones must not count if fewer are left.
            ranking.signals[name][np.isneginf(ranking.scores)] = 0
        found.append(confidence.features(ranking, len(analysed.terms)))
    return tuple(found)


def _alike(index: IndexReader, answers: set[int]) -> set[int]:
    (segment,) = index.segments  # A fresh index of this size has one.
    vectors = segment.vectors
    alike: set[int] = set()
    for answer in answers:
        vector = vectors.rows[answer].astype(np.float32)
        similarities = vectors.similarities(vector / np.linalg.norm(vector))
        alike.update(np.flatnonzero(similarities >= _ALIKE).tolist())
    return alike


if __name__ == "__main__":
    main()
