"""A long document -> its passages: runs of about twelve lines that begin where a statement begins.

The vector of a document comes from its first tokens. What happens further down in a long function is found by the
vectors of its passages. Every line of a long document is in one passage. A long table has one for every few rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from codesearch.config import ParseConfig
from codesearch.types import OF_FILE, Document

LineRange = tuple[int, int]
"""First and last line, 1-based and inclusive."""
_CLOSING = re.compile(r"\s*[\])}]|\s*$")
"""A line that ends something, or an empty one. No passage begins there."""
_AROUND = 2  # The vector of a passage also comes from so many lines above and below it


def passages_of(
    documents: Sequence[Document], lines: Sequence[str], depths: Mapping[int, int], config: ParseConfig
) -> list[list[LineRange]]:
    """Return the passages of each document of a file, in source order.

    A short document has none, nor has a test or code that is generated or copied: few people look for a line there.

    Args:
        documents: those of the file.
        lines: all lines of the file.
        depths: line where a statement begins -> how deep it is nested.
        config: how long a passage is, and which documents have passages.
    """
    least = config.max_whole_lines
    return [
        _passages(document.start_line, document.end_line, lines, depths, config)
        if document.end_line - document.start_line >= least and not document.flags & OF_FILE
        else []
        for document in documents
    ]


def _passages(
    first: int, last: int, lines: Sequence[str], depths: Mapping[int, int], config: ParseConfig
) -> list[LineRange]:
    length, slack = config.passage_lines, config.passage_slack
    passages: list[LineRange] = []
    while first + length + slack <= last:
        target = first + length
        near = range(target - slack, target + slack + 1)
        begins = [line for line in near if line in depths and not _CLOSING.match(lines[line - 1])]
        # Among the least nested statements, take the nearest one.
        _, _, after = min([(depths[line], abs(line - target), line) for line in begins] or [(0, 0, target)])
        passages.append((first, after - 1))
        first = after
    return [*passages, (first, last)]


def lines_around(document: Document, passage: LineRange) -> tuple[slice, slice]:
    """Return the positions of the lines above and below a passage that it is embedded with, in its document."""
    first, last = passage
    above = max(first - _AROUND, document.start_line)
    return slice(above - 1, first - 1), slice(last, min(last + _AROUND, document.end_line))
