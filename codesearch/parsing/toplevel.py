"""A file -> its top-level statements that are in no definition: settings, scripts, calls that register things."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from codesearch.parsing.definitions import Definition, Matches
from codesearch.parsing.docstrings import clean_comment

_MIN_LINES = 3
_HEAD_ROWS = 3
_WORD = re.compile(rb"\w")
_IMPORT = re.compile(
    rb"""\s*(?:
        \#\s*(?:include|if|ifdef|ifndef|elif|else|endif|pragma|undef)\b
      | (?:import|from|use|using|package|namespace|mod|module|export\s+\*|extern\s+(?:"C"|crate))(?![\w.(=])
      | (?:require|require_relative|require_once|include|include_once|load|source)\b\s*[('"$]
      | (?:['"]use\s\w+['"]|declare\s*\(|set\s+-|<\?php|\?>)
      | [^('"]*=\s*require\b
    )""",
    re.VERBOSE,
)
_LICENCE = re.compile(r"\b(?:copyright|licen[cs]e|all rights reserved|spdx)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Toplevel:
    """The statements of a file that are in no definition.

    Attributes:
        first_row: 0-based, of the longest run of statements without a definition between them.
        last_row: of the same run, inclusive.
        code: the text of all runs.
    """

    first_row: int
    last_row: int
    code: bytes


def toplevel_statements(definitions: Iterable[Definition], found: Matches, source: bytes) -> Toplevel | None:
    """Collect the statements outside of all definitions, without imports; None if they are too few."""
    lines = source.split(b"\n")
    covered = _merged((d.anchor_row, d.last_row) for d in definitions if d.kind != "scope")
    starts = [first for first, _ in covered]
    openings = set(starts)
    comments = {row for last, (first, _) in found.comments.items() for row in range(first, last + 1)}
    runs: dict[int, list[int]] = {}
    for first, last in _merged(found.statements):
        for row in range(first, min(last + 1, len(lines))):
            # Rows with the same position have no definition between them.
            position = bisect_right(starts, row)
            is_covered = position > 0 and row <= covered[position - 1][1]
            opens = row + 1 in openings and lines[row].rstrip().endswith((b"{", b"(", b"["))
            if is_covered or opens or row in comments:
                continue
            if _WORD.search(lines[row]) and not _IMPORT.match(lines[row]):
                runs.setdefault(position, []).append(row)
    if sum(map(len, runs.values())) < _MIN_LINES:
        return None
    longest = max(runs.values(), key=len)
    code = (
        line for rows in runs.values() for line in lines[rows[0] : rows[-1] + 1] if not _IMPORT.match(line)
    )
    return Toplevel(longest[0], longest[-1], b"\n".join(code))


def head_comment(definitions: Iterable[Definition], found: Matches) -> str:
    """Return the text of the comment that opens a file; "" if it is a licence or belongs to a definition."""
    by_first_row = {first: (last, text) for last, (first, text) in found.comments.items()}
    row = min(by_first_row, default=_HEAD_ROWS)
    below = found.statements[0][0] if found.statements else 0
    if row >= min(_HEAD_ROWS, below) or any(d.anchor_row <= row < d.row for d in definitions):
        return ""
    parts = []
    while row in by_first_row:
        last, text = by_first_row[row]
        parts.append(clean_comment(text))
        row = last + 1
    comment = "\n".join(parts).strip()
    return "" if _LICENCE.search(comment) else comment


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans of rows that overlap; ascending."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if joined and first <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return joined
