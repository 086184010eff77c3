"""Rows -> packed token ids of queries and documents, in order.

A sample is (first paragraph; place, qualified name, rest of the docstring, code). A share of the training samples is
(split name; the same without docstring and without the name), which trains for short queries. With the setting
`documents = "code"`, a document is the code alone, as in Husain et al. 2019.
"""

from __future__ import annotations

import random
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.tokenizer import SubtokenTokenizer, join_fields
from training.corpus.rows import Row
from training.errors import TrainingError

_MAX_TEXT_CHARS = 4_000
_MAX_ID = np.iinfo(np.uint16).max


@dataclass(frozen=True, slots=True)
class Packed:
    """Token ids of N texts, laid end to end: text i is `ids[starts[i]:starts[i + 1]]`."""

    ids: NDArray[np.uint16]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each text."""
        return np.diff(self.starts)

    def __getitem__(self, index: int) -> NDArray[np.uint16]:
        return self.ids[self.starts[index] : self.starts[index + 1]]


@dataclass(frozen=True, slots=True)
class Samples:
    """The pairs of one partition; `languages` [N] indexes `language_names`."""

    queries: Packed
    documents: Packed
    languages: NDArray[np.int64]
    language_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.languages)

    def only(self, names: Container[str]) -> Samples:
        """Keep only the pairs of these languages."""
        numbers = [number for number, name in enumerate(self.language_names) if name in names]
        kept = np.flatnonzero(np.isin(self.languages, numbers))
        if len(kept) == len(self):
            return self
        picked = [pack([packed[index] for index in kept]) for packed in (self.queries, self.documents)]
        return Samples(
            *picked,
            np.searchsorted(numbers, self.languages[kept]),
            tuple(self.language_names[number] for number in numbers),
        )


def texts_of_row(row: Row, documents: str = "all") -> tuple[str, str]:
    """Return the query and the document text of a row; `documents` is a setting of `TrainConfig`."""
    code = row.code[:_MAX_TEXT_CHARS]
    if documents == "code":
        return row.docstring, join_fields("", "", code)
    return row.docstring, join_fields(row.func_name, row.docstring_rest, code, path=row.path)


def name_texts_of_row(row: Row, documents: str = "all") -> tuple[str, str]:
    """Return the function's name as a query, and the document text without that name and without docstring."""
    enclosing = "" if documents == "code" else row.func_name.removesuffix(row.identifier)
    pattern = rf"\b{re.escape(row.identifier)}\b"
    return row.identifier, join_fields(enclosing, "", re.sub(pattern, "", row.code[:_MAX_TEXT_CHARS]))


def make_samples(
    rows: Iterable[Row],
    tokenizer: SubtokenTokenizer,
    *,
    max_query_tokens: int,
    max_document_tokens: int,
    documents: str = "all",
    name_share: float = 0.0,
    seed: int = 0,
) -> Samples:
    """Tokenize rows; `name_share` of them, drawn by `seed`, become name samples."""
    chance = random.Random(seed)
    queries, texts, languages = [], [], []
    for row in rows:
        by_name = chance.random() < name_share and len(row.identifier) > 3
        query, text = (name_texts_of_row if by_name else texts_of_row)(row, documents)
        queries.append(short_ids(tokenizer.encode(query, max_query_tokens)))
        texts.append(short_ids(tokenizer.encode(text, max_document_tokens)))
        languages.append(row.language)
    names = tuple(sorted(set(languages)))
    indices = np.array([names.index(language) for language in languages], dtype=np.int64)
    return Samples(pack(queries), pack(texts), indices, names)


def short_ids(ids: NDArray[np.integer]) -> NDArray[np.uint16]:
    """Store token ids in 16 bits.

    Raises:
        TrainingError: the vocabulary has more tokens than 16 bits can number.
    """
    if len(ids) and ids.max() > _MAX_ID:
        raise TrainingError(f"token id {ids.max()}: give a vocabulary of at most {_MAX_ID + 1:,} tokens")
    return ids.astype(np.uint16)


def pack(texts: Sequence[NDArray[np.uint16]]) -> Packed:
    """Concatenate texts."""
    starts = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    ids = np.concatenate(texts) if texts else np.zeros(0, dtype=np.uint16)
    return Packed(ids, starts)


def train_tokenizer(rows: Iterable[Row], vocabulary_size: int, documents: str = "all") -> SubtokenTokenizer:
    """Learn one vocabulary over the query and document texts of rows."""
    texts = (text for row in rows for text in texts_of_row(row, documents))
    return SubtokenTokenizer.train(texts, vocabulary_size)
