"""How many lines each hit gets, so that an answer fits on the screen without a pager."""

from __future__ import annotations

from collections.abc import Sequence

_OWN = 2
"""Rows for the command line above the output and the prompt below it."""


def fitted(wanted: Sequence[tuple[int, int]], headings: Sequence[int], height: int) -> list[tuple[int, int]]:
    """Return how many lines of code, and how many other definitions, each hit shows.

    Every hit first gets its signature, then its best line. What is left goes to the best hits. If the screen has no
    room for the signatures, nothing is left out: a pager shows the answer.

    >>> fitted([(3, 2), (3, 2), (3, 0)], [1, 1, 1], 18)
    [(3, 2), (2, 0), (2, 0)]
    """
    left = height - _OWN - sum(headings) - len(wanted) - 1  # An empty line below each hit, and the last line.
    hits = range(len(wanted))
    if left < len(wanted) or left >= sum(map(sum, wanted)):
        return list(wanted)
    shown = [[0, 0] for _ in hits]
    for at, part in [(at, 0) for at in (*hits, *hits)] + [(at, part) for at in hits for part in (1, 0, 1)]:
        if left and shown[at][part] < wanted[at][part]:
            shown[at][part] += 1
            left -= 1
    return [(lines, others) for lines, others in shown]
