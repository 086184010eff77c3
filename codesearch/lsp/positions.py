"""Places of the server and of the editor, which are converted here and nowhere else.

The server has a `Span`: lines and columns from 1 on, in characters. The editor has a `Position`: lines and columns from
0 on, in the code units that both agreed on, by default of UTF-16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from lsprotocol import types
from pygls.uris import to_fs_path

from codesearch.errors import ConfigError
from codesearch.structure.navigation import Span

Units = Callable[[str], int]
"""Counts the code units of a text."""


def path_of(uri: str) -> Path:
    """Return the path of a file that an editor names."""
    path = to_fs_path(uri)
    if not path:
        raise ConfigError(f"{uri} is not a file", "save it first")
    return Path(path)


def range_in(line: str, span: Span, units: Units) -> types.Range:
    """Return a place in its line as the editor counts."""
    start = span.column - 1
    ends = (units(line[:start]), units(line[: start + span.size]))
    return types.Range(*(types.Position(span.line - 1, end) for end in ends))


def range_of(first_line: int, lines: Sequence[str], units: Units) -> types.Range:
    """Return some lines, without the indentation of the first one and white space at the end."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    return types.Range(
        types.Position(first_line - 1, units(lines[0][:indent])),
        types.Position(first_line + len(lines) - 2, units(lines[-1].rstrip())),
    )


class Positions:
    """Converts places in files whose lines a function returns; each file is asked for once."""

    def __init__(self, lines_of: Callable[[Path], Sequence[str]], units: Units) -> None:
        self._lines, self._units = cache(lines_of), units

    def column(self, path: Path, position: types.Position) -> int:
        """Return the column of a position."""
        line = self._line(path, position.line + 1)
        ends = (number for number in range(len(line)) if self._units(line[:number]) >= position.character)
        return next(ends, len(line)) + 1

    def range(self, span: Span) -> types.Range:
        """Return where a place is in its file."""
        return range_in(self._line(span.path, span.line), span, self._units)

    def location(self, span: Span) -> types.Location:
        """Return where a place is, with its file."""
        return types.Location(span.path.as_uri(), self.range(span))

    def lines(self, path: Path, first: int, last: int) -> types.Range:
        """Return where some lines of a file are."""
        return range_of(first, self._lines(path)[first - 1 : last] or [""], self._units)

    def _line(self, path: Path, number: int) -> str:
        return "".join(self._lines(path)[number - 1 : number])
