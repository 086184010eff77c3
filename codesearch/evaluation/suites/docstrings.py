"""Suite `docstrings`: held-out documentation against the functions that it was taken from, through the whole product.

The data is what `csn-mrr` takes. Each function becomes a file of its own, called as the one that it stood in, without
its documentation; all functions of a language compete. Unlike `csn-mrr`, names, signatures and paths take part. A
function that is none outside its class cannot be found, and is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl
from codesearch.evaluation.judge import Questions, judge, scratch_folder
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pairs import read_pair
from codesearch.evaluation.qrels import Qrels, QueryId, query_id
from codesearch.evaluation.result import SuiteResult
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.suites.cosqa import score_run
from codesearch.evaluation.suites.csn_mrr import CODE_FIELDS, files_of
from codesearch.segments.store import DocumentRow, FileRecord

FUNCTIONS, QUERIES = 4_000, 300
"""At most so many a language, drawn once."""
_SEED = 99
_OPENING = {"php": "<?php\n"}


@dataclass(frozen=True, slots=True)
class Documented:
    """A function and what its documentation says; `path` is where it is written to, which is what it is known by."""

    language: str
    query: str
    path: str
    code: str


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite.

    Raises:
        ConfigError: the data is not there or not what it should be.
        MissingExtraError: the data is packed and zstandard is not installed.
    """
    if options.data is None:
        raise ConfigError("suite docstrings needs data: give --data a file or folder of held-out functions")
    clock = StageClock()
    with clock.stage("read"):
        functions = [function for file in files_of(options.data) for function in read_functions(file)]
    with scratch_folder("docstrings", options) as root:
        with clock.stage("unpack"):
            write_functions(root, functions)
        return judge(
            "docstrings",
            root,
            lambda collection: ask([function for function in functions if function.path in collection.names]),
            key=document_key,
            options=options,
            clock=clock,
            details={"functions": len(functions)},
        )


def read_functions(file: Path) -> list[Documented]:
    """Draw the documented functions of a file, which is of one language.

    Raises:
        ConfigError: it is not there or not what it should be.
    """
    found = list(_documented(file))
    chosen = np.random.default_rng(_SEED).permutation(len(found))[:FUNCTIONS]
    return [found[position] for position in sorted(chosen.tolist())]


def _documented(file: Path) -> Iterator[Documented]:
    for number, (place, record) in enumerate(read_jsonl(file)):
        pair = read_pair(place, record, CODE_FIELDS)
        if pair.query.strip():
            language = field(place, record, "language").lower()
            path = f"{language}/{number}/{PurePosixPath(field(place, record, 'path')).name}"
            yield Documented(language, pair.query, path, pair.code)


def ask(functions: list[Documented]) -> Questions:
    """Draw the documentation that is asked; the function that it was taken from answers it."""
    queries: dict[QueryId, str] = {}
    qrels: Qrels = {}
    for language in sorted({function.language for function in functions}):
        of_language = [function for function in functions if function.language == language]
        chosen = np.random.default_rng(_SEED).permutation(len(of_language))[:QUERIES]
        for position in chosen.tolist():
            function = of_language[position]
            query = query_id(language, function.query)
            queries[query] = function.query
            qrels.setdefault(query, {})[function.path] = 1.0
    return Questions(queries, lambda run_: score_run(run_, qrels), qrels)


def write_functions(root: Path, functions: list[Documented]) -> None:
    """Write each function to its file."""
    for function in functions:
        path = root / function.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"{_OPENING.get(function.language, '')}{function.code}\n"
        path.write_bytes(text.encode("utf-8", "replace"))


def document_key(file: FileRecord, _: DocumentRow) -> str:
    """Call a document by its file, so that a function inside a function counts as the outer one."""
    return file.path
