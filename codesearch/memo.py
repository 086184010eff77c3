"""A cache of a function's results that needs no Python call for a hit: `map(memo.__getitem__, keys)` runs in C."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(dict[K, V]):
    """A dictionary that computes missing values and clears itself when it is full.

    >>> lengths = Memo(len, limit=1000)
    >>> list(map(lengths.__getitem__, ["ab", "c", "ab"])), lengths
    ([2, 1, 2], {'ab': 2, 'c': 1})
    """

    def __init__(self, compute: Callable[[K], V], limit: int) -> None:
        """Make an empty memo."""
        super().__init__()
        self._compute, self._limit = compute, limit

    def __missing__(self, key: K) -> V:
        """Compute a value and keep it."""
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._compute(key)
        return value
