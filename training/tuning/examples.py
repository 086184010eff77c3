"""Pools of candidates and files of real questions -> token ids to learn from."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.tokenizer import SubtokenTokenizer, join_fields
from training.questions import read_questions
from training.tuning.pools import DOCUMENTATION, Candidate, Pool, is_held_out, read_groups

Bag = tuple[NDArray[np.int64], NDArray[np.float32]]
"""The distinct tokens of a text, int64 [T], and the number of each, raised to the encoder's power, float32 [T]."""
_OTHERS = 15
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its candidates.

    Attributes:
        query: int64 [T].
        answer: position of the right candidate.
        rest: the product's score of each candidate without its cosine, float32 [N].
        prior: factor of each cosine in the product's score, float32 [N].
        style: of the question, or `DOCUMENTATION`.
        held_out: whether it is for validation only.
    """

    query: NDArray[np.int64]
    candidates: list[Bag]
    answer: int
    rest: NDArray[np.float32]
    prior: NDArray[np.float32]
    style: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class BagReader:
    """Text -> token ids, as a bundle reads it.

    Attributes:
        power: exponent of the number of equal tokens.
    """

    tokenizer: SubtokenTokenizer
    max_query_tokens: int
    max_document_tokens: int
    power: float

    def query(self, text: str) -> NDArray[np.int64]:
        """Return the token ids of a query, int64 [T]."""
        return self.tokenizer.encode(text, self.max_query_tokens).astype(np.int64)

    def document(self, text: str) -> Bag:
        """Return the bag of a document's text."""
        ids, counts = np.unique(self.tokenizer.encode(text, self.max_document_tokens), return_counts=True)
        return ids.astype(np.int64), (counts**self.power).astype(np.float32)


def examples_of_pools(folder: Path, reader: BagReader) -> Iterator[Example]:
    """Yield the questions of a folder of pools; of those held out, only the ones whose answer the product finds."""
    for pools, candidates in read_groups(folder):
        known: dict[tuple[int, bool], Bag] = {}
        for pool in pools:
            query = reader.query(pool.question)
            usable = pool.found or not is_held_out(pool)
            if usable and len(query) and len(pool.candidates) >= _FEWEST and pool.parts:
                yield _example(pool, query, candidates, reader, known)


def _example(
    pool: Pool,
    query: NDArray[np.int64],
    candidates: Sequence[Candidate],
    reader: BagReader,
    known: dict[tuple[int, bool], Bag],
) -> Example:
    with_documentation = pool.style != DOCUMENTATION  # It would repeat the question.
    for number in pool.candidates:
        if (number, with_documentation) not in known:
            it = candidates[number]
            docstring, context = (it.docstring, it.context) if with_documentation else ("", "")
            text = join_fields(it.name, docstring, it.code, path=it.path, context=context)
            known[number, with_documentation] = reader.document(text)
    rest = np.sum([part for name, part in pool.parts.items() if name != "vectors"], axis=0, dtype=np.float32)
    missing = len(pool.candidates) - len(rest)  # An answer that the product did not find has no score.
    return Example(
        query,
        [known[number, with_documentation] for number in pool.candidates],
        pool.answer,
        np.pad(rest, (0, missing)),
        np.pad(np.array(pool.signals["length_prior"], np.float32), (0, missing), constant_values=1.0),
        pool.style,
        is_held_out(pool),
    )


def examples_of_questions(
    paths: Sequence[Path], reader: BagReader, most: int, seed: int
) -> Iterator[Example]:
    """Yield at most `most` pairs of each file, with code of other questions of the file as wrong candidates."""
    chance = random.Random(seed)
    for path in paths:
        pairs = [
            (query, reader.document(join_fields("", "", row.code)))
            for row in islice(read_questions([path], 1), most)
            if len(query := reader.query(row.docstring))
        ]
        for query, right in pairs:
            wrong = [code for _, code in chance.choices(pairs, k=_OTHERS) if code is not right]
            count = 1 + len(wrong)
            yield Example(
                query,
                [right, *wrong],
                0,
                np.zeros(count, np.float32),
                np.ones(count, np.float32),
                DOCUMENTATION,
                False,
            )
