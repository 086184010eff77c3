"""Numbers that are sorted, selected or equal.

`RunSorter` sorts 64-bit words that need not fit in memory: in an index, the upper half is a key and the rest a place.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedRandom
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

_SAMPLE = 4_096
RUN_WORDS = 1 << 21
"""Number of words in the buffer of a sort: 16 MB."""
_WORD, _HALF = np.dtype("<u8"), np.dtype("<u4")


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


class RunSorter:
    """Sorts distinct 64-bit words by the key in their upper half, also more words than fit in memory.

    A full buffer becomes a run in a scratch file, which has no name and disappears with the process. At the end, each
    run is sorted, and the runs are merged one range at a time. If all words fit in the buffer, nothing is written.
    """

    def __init__(self, folder: Path) -> None:
        self._file: BufferedRandom = TemporaryFile(dir=folder)
        self._buffer = np.empty(RUN_WORDS, dtype=_WORD)
        self._held = self._spilled = 0  # Words in the buffer, and in the file.

    def __len__(self) -> int:
        return self._spilled + self._held

    def add(self, words: NDArray[np.uint64]) -> None:
        """Add words [W], in any order."""
        while len(words):
            if self._held == len(self._buffer):
                self._spill()
            taken = words[: len(self._buffer) - self._held]
            self._buffer[self._held : self._held + len(taken)] = taken
            self._held += len(taken)
            words = words[len(taken) :]

    def ascending(self, order: NDArray[np.uint32] | None = None) -> Iterator[NDArray[np.uint64]]:
        """Replace each key by `order[key]`, if given, and yield all words ascending, in ranges; call this only once."""
        if self._spilled:
            self._spill()
            for starts, ends in pairwise(self._sort_runs(order)):
                words = np.empty(int((ends - starts).sum()), dtype=_WORD)
                parts = np.split(words, np.cumsum(ends - starts)[:-1])
                for part, start in zip(parts, starts.tolist(), strict=True):
                    self._read(part, start)
                words.sort()
                yield words
        elif self._held:
            yield _sort(self._buffer[: self._held], order)

    def close(self) -> None:
        """Close the scratch file, which deletes it."""
        self._file.close()

    def _spill(self) -> None:
        self._file.write(self._buffer[: self._held].data)
        self._spilled += self._held
        self._held = 0

    def _sort_runs(self, order: NDArray[np.uint32] | None) -> NDArray[np.int64]:
        """Sort each run in place; return where each range begins and ends in each run: int64 [ranges + 1, R].

        Samples at regular distances decide where ranges end. With R runs, each range contains R samples. A run with n
        of these samples has at most n + 1 steps of words in the range. So all runs together have at most 2R steps,
        which is the length of the buffer.
        """
        runs = range(0, self._spilled, len(self._buffer))
        step = max(1, len(self._buffer) // (2 * len(runs)))
        samples = []
        for start in runs:
            words = _sort(self._run(start), order)
            self._file.seek(start * _WORD.itemsize)
            self._file.write(words.data)
            samples.append(words[::step].copy())
        bounds = np.sort(np.concatenate(samples))[len(runs) :: len(runs)]
        edges = np.empty((len(bounds) + 2, len(runs)), dtype=np.int64)
        for run, start in enumerate(runs):
            words = self._run(start)
            edges[0, run], edges[-1, run] = start, start + len(words)
            edges[1:-1, run] = start + np.searchsorted(words, bounds)
        return edges

    def _run(self, start: int) -> NDArray[np.uint64]:
        return self._read(self._buffer[: self._spilled - start], start)

    def _read(self, words: NDArray[np.uint64], start: int) -> NDArray[np.uint64]:
        """Fill `words` with those in the file from position `start` on."""
        self._file.seek(start * _WORD.itemsize)
        self._file.readinto(words.data)
        return words


def _sort(words: NDArray[np.uint64], order: NDArray[np.uint32] | None) -> NDArray[np.uint64]:
    if order is not None:
        keys = words.view(_HALF)[1::2]
        keys[:] = order[keys]
    words.sort()
    return words
