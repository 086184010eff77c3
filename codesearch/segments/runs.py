"""More numbers than memory should hold -> the same in ascending order, some at a time.

Numbers gather in a buffer; a full one becomes a run in a scratch file, which has no name and goes away with whoever
writes it. In the end each run is sorted by itself, and all are merged range by range: samples at regular distances say
where a range ends, so that none is larger than the buffer. What fits the buffer never leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedRandom
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
from numpy.typing import NDArray

RUN_WORDS = 1 << 21
"""Words of the buffer, and so of a run: 16 MB."""
_WORD, _HALF = np.dtype("<u8"), np.dtype("<u4")


class RunSorter:
    """Sorts distinct 64-bit words whose upper halves are keys; how these are ordered is told in the end."""

    def __init__(self, folder: Path) -> None:
        self._file: BufferedRandom = TemporaryFile(dir=folder)
        self._buffer = np.empty(RUN_WORDS, dtype=_WORD)
        self._held = 0
        self._runs: list[int] = []  # Words of each: all of the buffer but for the last.

    def __len__(self) -> int:
        return sum(self._runs) + self._held

    def add(self, words: NDArray[np.uint64]) -> None:
        """Add words [W], in any order."""
        while len(words):
            if self._held == len(self._buffer):
                self._spill()
            taken = words[: len(self._buffer) - self._held]
            self._buffer[self._held : self._held + len(taken)] = taken
            self._held += len(taken)
            words = words[len(taken) :]

    def ascending(self, order: NDArray[np.uint32]) -> Iterator[NDArray[np.uint64]]:
        """Exchange each key for `order[key]` and yield all words in ascending order, a range at a time; once only."""
        if self._runs:
            self._spill()
            edges = self._edges(self._sort_runs(order))
            for starts, ends in pairwise(edges):
                yield self._merge(starts, ends)
        elif self._held:
            yield _sort(self._buffer[: self._held], order)

    def close(self) -> None:
        """Give the scratch file back."""
        self._file.close()

    def _spill(self) -> None:
        self._file.write(self._buffer[: self._held].data)
        self._runs.append(self._held)
        self._held = 0

    def _sort_runs(self, order: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Sort each run in its place; return the words at which ranges end.

        From one of these to the next are as many samples as there are runs, R. A run with n of them has at most n + 1
        steps of words there, all runs together 2R: the buffer's length.
        """
        step = max(1, len(self._buffer) // (2 * len(self._runs)))
        samples = []
        for run in range(len(self._runs)):
            words = _sort(self._read(run), order)
            self._seek(run)
            self._file.write(words.data)
            samples.append(words[::step].copy())
        return np.sort(np.concatenate(samples))[len(self._runs) :: len(self._runs)]

    def _edges(self, bounds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Count the words of each run that come before each range, and in all: int64 [ranges + 1, R]."""
        edges = np.zeros((len(bounds) + 2, len(self._runs)), dtype=np.int64)
        edges[-1] = self._runs
        for run in range(len(self._runs)):
            edges[1:-1, run] = np.searchsorted(self._read(run), bounds)
        return edges

    def _merge(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Put together what the runs have from `starts` to `ends`, each [R]."""
        words = np.empty(int((ends - starts).sum()), dtype=_WORD)
        parts = np.split(words, np.cumsum(ends - starts)[:-1])
        for run, (start, part) in enumerate(zip(starts.tolist(), parts, strict=True)):
            self._seek(run, start)
            self._file.readinto(part.data)
        words.sort()
        return words

    def _read(self, run: int) -> NDArray[np.uint64]:
        """Read a run into the buffer."""
        words = self._buffer[: self._runs[run]]
        self._seek(run)
        self._file.readinto(words.data)
        return words

    def _seek(self, run: int, start: int = 0) -> None:
        self._file.seek((run * len(self._buffer) + start) * _WORD.itemsize)


def _sort(words: NDArray[np.uint64], order: NDArray[np.uint32]) -> NDArray[np.uint64]:
    keys = words.view(_HALF)[1::2]
    keys[:] = order[keys]
    words.sort()
    return words
