"""A function's results by argument, looked up without a call: `map(memo.__getitem__, keys)` runs in C."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Memo(dict[K, V]):
    """A dictionary that computes a missing value, and is emptied when it holds too many.

    >>> lengths = Memo(len, limit=1000)
    >>> list(map(lengths.__getitem__, ["ab", "c", "ab"])), lengths
    ([2, 1, 2], {'ab': 2, 'c': 1})
    """

    def __init__(self, compute: Callable[[K], V], limit: int) -> None:
        """Make an empty one.

        Args:
            compute: key -> value.
            limit: entries at which it is emptied.
        """
        super().__init__()
        self._compute, self._limit = compute, limit

    def __missing__(self, key: K) -> V:
        """Compute a value and keep it."""
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._compute(key)
        return value
