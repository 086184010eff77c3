"""External sort: numbers that do not fit in memory -> the same numbers in ascending order, in parts.

Numbers are collected in a buffer. A full buffer becomes a run in a scratch file. The scratch file has no name and
disappears with the process. At the end, each run is sorted separately, and the runs are merged one range at a time.
Samples at regular distances decide where ranges end, so no range is larger than the buffer. If all numbers fit in the
buffer, nothing is written.
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
"""Number of words in the buffer and in a run: 16 MB."""
_WORD, _HALF = np.dtype("<u8"), np.dtype("<u4")


class RunSorter:
    """Sorts distinct 64-bit words by the key in their upper half; the order of the keys is given at the end."""

    def __init__(self, folder: Path) -> None:
        self._file: BufferedRandom = TemporaryFile(dir=folder)
        self._buffer = np.empty(RUN_WORDS, dtype=_WORD)
        self._held = 0
        self._runs: list[int] = []  # Words in each run; only the last run may be shorter than the buffer.

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
        """Replace each key by `order[key]` and yield all words in ascending order, in ranges; call this only once."""
        if self._runs:
            self._spill()
            edges = self._edges(self._sort_runs(order))
            for starts, ends in pairwise(edges):
                yield self._merge(starts, ends)
        elif self._held:
            yield _sort(self._buffer[: self._held], order)

    def close(self) -> None:
        """Close the scratch file, which deletes it."""
        self._file.close()

    def _spill(self) -> None:
        self._file.write(self._buffer[: self._held].data)
        self._runs.append(self._held)
        self._held = 0

    def _sort_runs(self, order: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """Sort each run in place and return the words at which ranges end.

        With R runs, each range contains R samples. A run with n of these samples has at most n + 1 steps of words in
        the range. So all runs together have at most 2R steps, which is the length of the buffer.
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
        """Return how many words of each run come before each range, and at the end all: int64 [ranges + 1, R]."""
        edges = np.zeros((len(bounds) + 2, len(self._runs)), dtype=np.int64)
        edges[-1] = self._runs
        for run in range(len(self._runs)):
            edges[1:-1, run] = np.searchsorted(self._read(run), bounds)
        return edges

    def _merge(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Merge the words of each run from `starts` to `ends`, each [R]."""
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
