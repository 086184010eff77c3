"""Suite `docstrings`: find functions by their held-out documentation, through the whole product.

The data is the same as for `csn-mrr`. Each function is written without its documentation to a separate file, which has
the name of the original file. All functions of a language compete. Unlike in `csn-mrr`, names, signatures and paths
are searched. Some code is a function only inside its class; it cannot be found and is not asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl
from codesearch.evaluation.judge import (
    BenchOptions,
    Questions,
    Tree,
    answered_questions,
    judge,
)
from codesearch.evaluation.qrels import Qrels, QueryId, query_id
from codesearch.evaluation.result import SuiteResult
from training.evaluation.csn_mrr import CODE_FIELDS, files_of
from training.evaluation.pairs import read_pair

FUNCTIONS, QUERIES = 4_000, 300
"""The largest number of queries for each language, drawn once."""
DEPTHS = (1, 5, 10, 100)
_SEED = 99
_OPENING = {"php": "<?php\n"}


@dataclass(frozen=True, slots=True)
class Documented:
    """A function and its documentation. `path` is the file that it is written to, which identifies it."""

    language: str
    query: str
    path: str
    code: str


def run(options: BenchOptions) -> SuiteResult:
    """Run the suite.

    Raises:
        ConfigError: the data is missing or has another format.
        MissingExtraError: the data is compressed and zstandard is not installed.
    """
    if options.data is None:
        raise ConfigError("suite docstrings needs data: give --data a file or folder of held-out functions")
    with options.clock.stage("read"):
        functions = [function for file in files_of(options.data) for function in read_functions(file)]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        with options.clock.stage("unpack"):
            write_functions(root, functions)
        tree = Tree(
            root,
            lambda collection: ask([function for function in functions if function.path in collection.names]),
            key=lambda file, _: file.path,  # So a nested function counts as the outer one.
            details={"functions": len(functions)},
        )
        return judge("docstrings", [tree], options)


def read_functions(file: Path) -> list[Documented]:
    """Draw documented functions from a file, which has one language.

    Raises:
        ConfigError: it is missing or has another format.
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
    """Draw the documentation to ask; the function that it comes from is the answer."""
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
    return answered_questions(queries, qrels, DEPTHS)


def write_functions(root: Path, functions: list[Documented]) -> None:
    """Write each function to its file."""
    for function in functions:
        path = root / function.path
        path.parent.mkdir(parents=True, exist_ok=True)
        text = f"{_OPENING.get(function.language, '')}{function.code}\n"
        path.write_bytes(text.encode("utf-8", "replace"))
