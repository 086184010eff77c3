"""What a ranking needs of the documents that it ranks.

`codesearch.index.snapshot.Snapshot` has it of local indexes, and describes every method. Another backend has it of the
candidates that its server proposes.
"""

# ruff: noqa: D102
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.index.source import Stored

DocIds = NDArray[np.int64]


class Postings(Protocol):
    """The part of `codesearch.segments.postings.PostingsReader` that scoring needs."""

    def find(self, term: str) -> int | None: ...
    def by_field(self, term_id: int) -> Iterator[tuple[int, NDArray[np.uint32], NDArray[np.uint8]]]: ...
    def occurrence_weights(
        self,
        field_weights: tuple[float, ...],
        field_b: tuple[float, ...],
        average_lengths: NDArray[np.float64],
    ) -> NDArray[np.float32]: ...


class HasPostings(Protocol):
    """The part of a segment that scoring needs."""

    @property
    def postings(self) -> Postings: ...


class Corpus(Protocol):
    """The documents that keywords score."""

    @property
    def size(self) -> int: ...
    @property
    def document_count(self) -> int: ...
    @property
    def average_lengths(self) -> NDArray[np.float64]: ...
    @property
    def dead(self) -> NDArray[np.bool_] | None: ...
    def based_segments(self) -> Iterator[tuple[int, HasPostings]]: ...


class Documents(Corpus, Protocol):
    """The documents that are ranked."""

    def kinds(self, doc_ids: DocIds) -> NDArray[np.uint8]: ...
    def flags(self, doc_ids: DocIds) -> NDArray[np.uint8]: ...
    def copy_keys(self, doc_ids: DocIds) -> DocIds: ...
    def file_numbers(self, doc_ids: DocIds) -> DocIds: ...
    def field_lengths(self, doc_ids: DocIds, field: int) -> NDArray[np.uint16]: ...
    def similarities(self, query: NDArray[np.float32], doc_ids: DocIds) -> NDArray[np.float32]: ...
    def nearest(
        self, query: NDArray[np.float32], count: int, allowed: NDArray[np.bool_] | None, ef_search: int
    ) -> DocIds: ...
    def best(self, doc_ids: DocIds, scores: NDArray[np.float32], count: int) -> DocIds: ...
    def order(self, doc_ids: DocIds, scores: NDArray[np.float32]) -> NDArray[np.intp]: ...
    def named(self, name: str) -> Iterator[tuple[int, str, str]]: ...
    def path_of(self, doc_id: int) -> PurePosixPath: ...
    def stored(self, doc_ids: Sequence[int]) -> list[Stored]: ...
