"""Names of held-out sets -> their rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from training.corpus.advtest import advtest_rows
from training.corpus.load import load
from training.corpus.rows import Row, read_rows
from training.errors import TrainingError
from training.samples import MIN_NAME_CHARS, without_name


def row_files(corpus: Path, partition: str) -> list[Path]:
    """List the row files of a partition."""
    paths = sorted((corpus / "rows").glob(f"*.{partition}.jsonl.zst"))
    if not paths:
        raise TrainingError(
            f"{corpus}/rows has no {partition} rows: run `python -m training corpus extract`, or `corpus load` if you "
            "have CodeSearchNet's files"
        )
    return paths


def first_test_rows(corpus: Path, count: int) -> Iterator[Row]:
    """Yield the first test rows of each language, about `count` in all."""
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
