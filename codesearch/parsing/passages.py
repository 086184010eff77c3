"""A long document -> its passages: runs of about twelve lines that begin where a statement begins.

The vector of a document comes from its first tokens. What happens further down in a long function is found by the
vectors of its passages. Neighbouring passages overlap by about four lines, so every statement has the lines around it
in at least one of them. A long table has a passage for every few rows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from codesearch.config import ParseConfig
from codesearch.types import Document

LineRange = tuple[int, int]
"""First and last line, 1-based and inclusive."""
_CLOSING = re.compile(r"\s*[\])}]|\s*$")
"""A line that ends something, or an empty one. No passage begins there."""


def passages_of(
    documents: Sequence[Document], lines: Sequence[str], starts: Sequence[int], config: ParseConfig
) -> list[list[LineRange]]:
    """Return the passages of each document of a file, in source order; a short document has none.

    Args:
        documents: those of the file.
        lines: all lines of the file.
        starts: the lines where a statement begins, ascending; other lines are used where there is none.
        config: how long a passage is, and which documents have passages.
    """
    spans = [(document.start_line, document.end_line) for document in documents]
    if all(last - first < config.max_whole_lines for first, last in spans):
        return [[] for _ in spans]
    begins = [line for line in starts if line <= len(lines) and not _CLOSING.match(lines[line - 1])]
    return [
        _passages(first, last, begins, config) if last - first >= config.max_whole_lines else []
        for first, last in spans
    ]


def _passages(first: int, last: int, begins: Sequence[int], config: ParseConfig) -> list[LineRange]:
    """Return overlapping passages that cover some lines."""
    length, step = config.passage_lines, config.passage_step
    slack = (length - step) // 2 + 1
    passages: list[LineRange] = []
    while first + length + slack <= last:
        passages.append((first, _nearest(first + length, begins, slack) - 1))
        first = _nearest(first + step, begins, slack)
    return [*passages, (first, last)]


def _nearest(line: int, begins: Sequence[int], slack: int) -> int:
    """Return the line nearest to `line` where a statement begins, at most `slack` lines away, else `line`."""
    at = bisect_left(begins, line)
    below = begins[at - 1] if at else 0
    above = begins[at] if at < len(begins) else line + slack + 1
    near = below if line - below <= above - line else above
    return near if abs(near - line) <= slack else line
