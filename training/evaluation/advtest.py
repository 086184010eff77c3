"""Suite `advtest`: documentation against all Python functions of a test set whose names were replaced.

The data is a folder with `test.jsonl` (compressed or not), or that file. Each line is a function with its documentation
(`docstring_tokens` or `docstring`) and its code (`function`, or `code`, or their tokens). `url` and `idx` identify it;
without them, its line number does. If the folder has a `test_code.jsonl*`, the functions in it compete, known by `idx`.

Results are written in CodeXGLUE's form: `{"url": ..., "answers": [idx, ...]}` per line, best first.

*Source*: Lu et al. 2021, "CodeXGLUE", NL-code-search-Adv: MRR over the whole test set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ConfigError
from codesearch.evaluation.data import Run, field, read_jsonl
from codesearch.evaluation.judge import BenchOptions
from codesearch.evaluation.result import SuiteResult, SystemResult, describe_encoder
from codesearch.text.bundle import SHIPPED
from codesearch.text.onnx import OnnxEncoder
from training.evaluation.pairs import (
    SYSTEMS,
    CodeScorer,
    one_file,
    ranks,
    read_pair,
    summarise_means,
    without_docstring,
)

GROUP = "python"
DEPTHS = (1, 5, 10, 100)
ANSWERS = 100
"""Answers for each query in a file of results."""
_CODE = ("function", "function_tokens", "code", "code_tokens", "original_string")
_BATCH = 200
PUBLISHED = {"mrr": {"RoBERTa": 0.1833, "CodeBERT": 0.2719}}
"""Lu et al. 2021, over their test set."""


@dataclass(frozen=True, slots=True)
class TestSet:
    """Documentation and idx of the right function by url, and the code of all functions by idx."""

    queries: dict[str, str]
    answers: dict[str, str]
    codes: dict[str, str]


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    with options.clock.stage("read"):
        test_set = read_test_set(options.data)
    encoder = OnnxEncoder.load(options.model or SHIPPED, options.device)
    with options.clock.stage("encode"):
        scorer = CodeScorer(list(test_set.codes.values()), encoder)
    try:
        with options.clock.stage("rank"):
            found, runs = _rank(test_set, scorer, options)
    finally:
        scorer.close()
    return SuiteResult(
        suite="advtest",
        systems={system: _summary(found[system]) for system in SYSTEMS},
        judged_queries=len(test_set.queries),
        documents=len(test_set.codes),
        seconds=options.clock.seconds,
        details={"model": describe_encoder(encoder)},
        runs=runs,
        published=PUBLISHED,
    )


def _rank(
    test_set: TestSet, scorer: CodeScorer, options: BenchOptions
) -> tuple[dict[str, NDArray[np.int64]], dict[str, Run]]:
    """Return, for each system, the rank of the right function [Q], and the system's first answers."""
    names = list(test_set.codes)
    positions = {name: position for position, name in enumerate(names)}
    urls = list(test_set.queries)
    found: dict[str, list[NDArray[np.int64]]] = {system: [] for system in SYSTEMS}
    runs: dict[str, Run] = {system: {} for system in SYSTEMS}
    for start in range(0, len(urls), _BATCH):
        batch = urls[start : start + _BATCH]
        scores = scorer.scores([test_set.queries[url] for url in batch])
        scores["fused"] = scorer.fused(scores["bm25"], scores["dense"])
        right = np.array([positions[test_set.answers[url]] for url in batch], np.intp)
        for system in SYSTEMS:
            found[system].append(ranks(scores[system], right))
            best = np.argsort(-scores[system], axis=1, kind="stable")[:, :ANSWERS]
            runs[system] |= {
                (GROUP, url): [names[position] for position in row]
                for url, row in zip(batch, best.tolist(), strict=True)
            }
        options.on_progress("rank", start + len(batch), len(urls))
    return {system: np.concatenate(parts) for system, parts in found.items()}, runs


def _summary(of_right: NDArray[np.int64]) -> SystemResult:
    recalls = {f"recall_at_{depth}": (of_right <= depth).astype(np.float64) for depth in DEPTHS}
    scores = {"mrr": 1.0 / of_right, **recalls}
    return summarise_means({metric: {GROUP: values} for metric, values in scores.items()})


def read_test_set(path: Path | None) -> TestSet:
    """Read a test set from its file or folder."""
    if path is None:
        raise ConfigError("suite advtest needs data: give --data the folder with test.jsonl")
    test_set = TestSet({}, {}, {})
    for number, (place, record) in enumerate(
        read_jsonl(path if path.is_file() else one_file(path, "*test.jsonl*"))
    ):
        pair = read_pair(place, record, _CODE)
        idx = _name(record, "idx", number)
        url = _name(record, "url", number)
        if url in test_set.queries:
            raise ConfigError(f"{place}: url {url} stands there twice: remove one")
        test_set.queries[url], test_set.answers[url], test_set.codes[idx] = pair.query, idx, pair.code
    if path.is_dir() and list(path.glob("test_code.jsonl*")):
        test_set.codes.clear()
        for number, (place, record) in enumerate(read_jsonl(one_file(path, "test_code.jsonl*"))):
            code = without_docstring(field(place, record, *_CODE))
            test_set.codes[_name(record, "idx", number)] = code
    if absent := set(test_set.answers.values()) - test_set.codes.keys():
        raise ConfigError(
            f"{path}: no function {min(absent)}, which a query asks for: give files of one release"
        )
    return test_set


def _name(record: Mapping[str, Any], name: str, number: int) -> str:
    """Return the id of a function. The official idx is its line number, from 0."""
    value = record.get(name)
    return str(number if value is None or value == "" else value)


def write_predictions(path: Path, run_: Run) -> None:
    """Write results in CodeXGLUE's form."""
    lines = (
        json.dumps({"url": url, "answers": [int(idx) if idx.isdigit() else idx for idx in found]})
        for (_, url), found in run_.items()
    )
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
