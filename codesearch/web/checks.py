"""When a search looks for changed files first."""

from __future__ import annotations

import threading
import time

_PAUSE_S = 2.0
_MOST_S = 10.0


class Checks:
    """Keeps the check out of the searches of someone who types: it can take longer than the search."""

    def __init__(self, pause_s: float = _PAUSE_S, most_s: float = _MOST_S) -> None:
        self._lock = threading.Lock()
        self._pause_s, self._most_s = pause_s, most_s
        self._searched = self._checked = float("-inf")

    def due(self, now: float | None = None) -> bool:
        """Say whether this search checks first: after a pause of searches, or when the last check is old.

        >>> checks = Checks(pause_s=2, most_s=10)
        >>> [checks.due(now) for now in (0, 1, 2.5, 5, 6, 7.5, 9, 10.5, 12, 13.5, 15)]
        [True, False, False, True, False, False, False, False, False, False, True]
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            due = now - self._searched >= self._pause_s or now - self._checked >= self._most_s
            self._searched = now
            self._checked = now if due else self._checked
            return due
