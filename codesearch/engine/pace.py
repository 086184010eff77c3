"""When to do again what would cost too much each time: to compare an index, and to send progress."""

from __future__ import annotations

import math
import time

from codesearch.engine.session import REFRESH_S

PROGRESS_S = 0.2
"""Progress is sent at most once in this time."""


class Pace:
    """Says when something is due again, such as to compare indexes while someone types a query."""

    def __init__(self, every_s: float) -> None:
        self._every_s, self._next = every_s, -math.inf

    def is_due(self, now: float | None = None) -> bool:
        """Say whether the last time that this was true is long enough ago.

        >>> pace = Pace(every_s=2)
        >>> [pace.is_due(now) for now in (0, 1, 1.9, 2, 3, 5)]
        [True, False, False, True, False, True]
        """
        now = time.monotonic() if now is None else now
        if now < self._next:
            return False
        self._next = now + self._every_s
        return True

    def budget_s(self) -> float | None:
        """Return the budget of a search to compare indexes; None if that is not due."""
        return REFRESH_S if self.is_due() else None

    def forget(self) -> None:
        """Make it due."""
        self._next = -math.inf
