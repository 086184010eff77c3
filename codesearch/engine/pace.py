"""When the searches of someone who types compare indexes with their folders."""

from __future__ import annotations

import math
import threading
import time

from codesearch.engine.session import REFRESH_S


class Pace:
    """Says when to compare indexes, so that the searches of someone who types do not wait for that."""

    def __init__(self, pause_s: float, most_s: float) -> None:
        self._lock = threading.Lock()
        self._pause_s, self._most_s = pause_s, most_s
        self._searched = self._checked = -math.inf

    def budget_s(self, now: float | None = None) -> float | None:
        """Return the budget of a search: there is one after a pause of searches, or when the last check is old.

        >>> pace = Pace(pause_s=2, most_s=10)
        >>> [pace.budget_s(now) is not None for now in (0, 1, 2.5, 5, 6, 7.5, 9, 10.5, 12, 13.5, 15)]
        [True, False, False, True, False, False, False, False, False, False, True]
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            due = now - self._searched >= self._pause_s or now - self._checked >= self._most_s
            self._searched = now
            self._checked = now if due else self._checked
            return REFRESH_S if due else None

    def forget(self) -> None:
        """Let the next search compare."""
        self._checked = -math.inf
