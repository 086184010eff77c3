"""A cache whose hits need no Python call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K", bound=str | bytes | tuple[str, str])
V = TypeVar("V")
_LONGEST = 100


class Memo(dict[K, V]):
    """A dictionary that computes missing values. It keeps none of long keys, and clears itself when it is full.

    >>> lengths = Memo(len, limit=1000)
    >>> list(map(lengths.__getitem__, ["ab", "c", "ab"])), lengths
    ([2, 1, 2], {'ab': 2, 'c': 1})
    """

    def __init__(self, compute: Callable[[K], V], limit: int) -> None:
        super().__init__()
        self._compute, self._limit = compute, limit

    def __missing__(self, key: K) -> V:
        value = self._compute(key)
        if len(key) <= _LONGEST:
            if len(self) >= self._limit:
                self.clear()
            self[key] = value
        return value
