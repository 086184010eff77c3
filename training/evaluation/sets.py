"""Names of held-out sets -> their pairs or their questions, as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from training import cosqa
from training.corpus.advtest import advtest_rows
from training.corpus.load import load
from training.corpus.rows import Row, read_rows
from training.errors import TrainingError
from training.samples import MIN_NAME_CHARS, without_name


@dataclass(frozen=True, slots=True)
class Questions:
    """Queries over one collection.

    Attributes:
        answers: the index in `documents` of each query's answer.
    """

    language: str
    queries: list[str]
    documents: list[str]
    answers: list[int]


def row_files(corpus: Path, partition: str) -> list[Path]:
    """List the row files of a partition.

    Raises:
        TrainingError: there are none.
    """
    paths = sorted((corpus / "rows").glob(f"*.{partition}.jsonl.zst"))
    if not paths:
        raise TrainingError(
            f"{corpus}/rows has no {partition} rows: run `python -m training corpus extract`, or `corpus load` if you "
            "have CodeSearchNet's files"
        )
    return paths


def first_test_rows(corpus: Path, count: int) -> Iterator[Row]:
    """Yield the first test rows of each language, about `count` in all.

    Raises:
        TrainingError: there are none.
    """
    files = row_files(corpus, "test")
    for path in files:
        yield from islice(read_rows(path), count // len(files))


def rows_of(corpus: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a partition, or of the test partition in the form of AdvTest or asked by name."""
    if name == "names":
        rows = rows_of(corpus, "test")
        return (without_name(row) for row in rows if len(row.identifier) >= MIN_NAME_CHARS)
    if name != "advtest":
        return read_rows(*row_files(corpus, name))
    loaded = chain.from_iterable(load(path) for path in row_files(corpus, "test"))
    return (row.row for row in advtest_rows(loaded, Counter()))


def read_cosqa(evaluation_sets: Path | None) -> Questions:
    """Read CoSQA's development questions and their collection.

    Raises:
        TrainingError: the folder is not given or does not exist.
        ConfigError: its files are missing or have another format.
    """
    if evaluation_sets is None:
        raise TrainingError("cosqa: not in the corpus: give its folder's parent with --evaluation-sets")
    folder = evaluation_sets / "cosqa"
    if not folder.is_dir():
        raise TrainingError(f"{folder} is not there: give the folder that holds it with --evaluation-sets")
    functions = cosqa.read_functions(folder / "codebase.python.jsonl.zst")
    queries, qrels = cosqa.read_queries(folder / "retrieval_dev.python.jsonl.zst", functions)
    positions = {name: position for position, name in enumerate(functions)}
    asked = [(queries[query], positions[answer]) for query, right in qrels.items() for answer in right]
    return Questions(
        language=cosqa.GROUP,
        queries=[text for text, _ in asked],
        documents=list(functions.values()),
        answers=[position for _, position in asked],
    )
