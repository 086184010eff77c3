"""Selection of the highest scores, and functions for equal numbers in an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SAMPLE = 4_096


def best_positions(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return the positions of the `count` highest scores; for ties at the cut-off, the lowest positions."""
    if len(scores) <= count:
        return np.arange(len(scores), dtype=np.int64)
    head = _head(scores, count)
    values = scores[head]
    edge = np.partition(values, len(values) - count)[len(values) - count]
    above = head[values > edge]
    level = head[values == edge][: count - len(above)]
    return np.concatenate([above, level])


def _head(scores: NDArray[np.float32], count: int) -> NDArray[np.int64]:
    """Return ascending positions with the `count` highest scores and few others; a sample gives the cut-off.

    Partitioning all scores would take longer than the rest of a query, not counting the scan.
    """
    sample = scores[:: max(1, len(scores) // _SAMPLE)]
    spare = 2 * count * len(sample) // len(scores) + 8
    if spare < len(sample):
        cut = np.partition(sample, len(sample) - spare)[len(sample) - spare]
        head = np.flatnonzero(scores >= cut)
        if len(head) >= count:
            return head
    return np.arange(len(scores), dtype=np.int64)


def distinct(doc_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort ids in place and return each once; `np.unique` would import masked arrays in every cold query."""
    doc_ids.sort()
    return doc_ids[starts_of_runs(doc_ids)]


def starts_of_runs(values: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Say which elements differ from the previous one; the first counts as different."""
    starts = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return starts


def equal_before(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the equal elements before each element: int64 [N].

    >>> equal_before(np.array([7, 3, 7, 7, 3]))
    array([0, 0, 1, 2, 1])
    """
    by_value = values.argsort(kind="stable")
    starts_run = starts_of_runs(values[by_value])
    starts = np.flatnonzero(starts_run)
    before = np.empty(len(values), dtype=np.int64)
    before[by_value] = np.arange(len(values)) - starts[np.cumsum(starts_run) - 1]
    return before
