"""Pools on disk: questions with the candidates that the product found, as `python -m training pools` writes them.

Each group of packages has a folder with `pools.jsonl`, a `Pool` in each line, and `candidates.jsonl`, a `Candidate` in
each line.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CANDIDATES = "candidates.jsonl"
DOCUMENTATION = "documentation"
"""The style of a question that is a first sentence of documentation."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A question with its candidates, the product's best first.

    Attributes:
        answer: position of the right answer in `candidates`; the last one if the product did not find it.
        found: whether the product found the answer.
        candidates: number of each document in the group's `candidates.jsonl`.
        parts: the parts of the score, for each candidate that was found.
        signals: the signals of the ranking, for each candidate that was found.
    """

    question: str
    style: str
    about: str
    language: str
    package: str
    answer: int
    found: bool
    candidates: list[int]
    parts: dict[str, list[float]]
    signals: dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document of a group."""

    language: str
    kind: str
    path: str
    name: str
    docstring: str
    code: str
    context: str = ""


def is_held_out(pool: Pool) -> bool:
    """Return whether a pool is for validation. The pools of one package in ten are."""
    return zlib.crc32(pool.package.encode()) % 10 == 0


def read_groups(folder: Path) -> Iterator[tuple[list[Pool], list[Candidate]]]:
    """Read the pools of each group, and the candidates to which their numbers refer."""
    for path in sorted(folder.glob("*/pools.jsonl")):
        pools = [Pool(**record) for record in _lines(path)]
        yield pools, [Candidate(**record) for record in _lines(path.with_name(CANDIDATES))]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)
