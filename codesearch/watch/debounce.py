"""Many changes -> one update, shortly after the last of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

QUIET_S = 0.1
"""An update waits until nothing has changed for this long."""
LIMIT_S = 2.0
"""An update starts after this time even if changes go on."""


@dataclass(slots=True)
class Debounce:
    """When to update after changes. Times are seconds of any clock that never goes back.

    >>> changes = Debounce()
    >>> changes.touch(10.0), changes.touch(10.05), round(changes.due, 2)
    (True, False, 10.15)
    """

    first: float = math.inf
    last: float = math.inf

    def touch(self, now: float) -> bool:
        """Note a change; return whether it is the first since the last `clear`."""
        is_first = not self.is_pending
        if is_first:
            self.first = now
        self.last = now
        return is_first

    def clear(self) -> None:
        """Forget all changes."""
        self.first = self.last = math.inf

    @property
    def is_pending(self) -> bool:
        """Say whether there was a change since the last `clear`."""
        return self.first < math.inf

    @property
    def due(self) -> float:
        """Return when to update; infinity without a change."""
        return min(self.last + QUIET_S, self.first + LIMIT_S)
