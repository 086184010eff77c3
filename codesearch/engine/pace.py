"""When the searches of someone who types compare indexes with their folders."""

from __future__ import annotations

import math
import time

from codesearch.engine.session import REFRESH_S


class Pace:
    """Says when to compare indexes, so that few searches of someone who types wait for that."""

    def __init__(self, every_s: float) -> None:
        self._every_s, self._next = every_s, -math.inf

    def budget_s(self, now: float | None = None) -> float | None:
        """Return the budget of a search, or None if the last one with a budget was a short time ago.

        >>> pace = Pace(every_s=2)
        >>> [pace.budget_s(now) is not None for now in (0, 1, 1.9, 2, 3, 5)]
        [True, False, False, True, False, True]
        """
        now = time.monotonic() if now is None else now
        if now < self._next:
            return None
        self._next = now + self._every_s
        return REFRESH_S

    def forget(self) -> None:
        """Let the next search compare."""
        self._next = -math.inf
