"""Files of real questions and the code that answers them -> rows to train on in addition to the corpus.

A file is JSON lines, zstd-compressed, with `query` and `code`. Its rows form a separate group, so the negatives of a
question are the code of other questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from codesearch.evaluation.jsonl import read_jsonl
from training.corpus.rows import Row
from training.errors import TrainingError

GROUP = "questions"


def read_questions(paths: Sequence[Path], repeats: int) -> Iterator[Row]:
    """Yield the questions of files, each `repeats` times per epoch.

    Raises:
        ConfigError: a file is missing or damaged.
        TrainingError: a line has no query or no code.
    """
    for path in paths:
        name = path.name.removesuffix(".jsonl.zst")
        for place, record in read_jsonl(path):
            if not record.get("query") or not record.get("code"):
                raise TrainingError(f"{place}: no query and code: not a file of questions")
            row = Row(
                repo=GROUP,
                package=f"{GROUP}: {name}",
                path="",
                func_name="",
                identifier="",
                language=GROUP,
                code=record["code"],
                docstring=record["query"],
                docstring_rest="",
                partition="train",
            )
            yield from [row] * repeats
