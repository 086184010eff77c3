"""A place -> its code: lines, a file or a definition, whole or with the bodies of members folded away."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from codesearch.errors import IndexNotFoundError, index_command
from codesearch.search.exact import check_has_code
from codesearch.search.snippets import head_of, shares
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.source import read_source
from codesearch.structure.imports import import_statements
from codesearch.structure.places import Spot
from codesearch.types import HEADER_KINDS, TEXT_KINDS, Definition, Document

D = TypeVar("D", DocumentRow, Document, Definition)
WHOLE_LINES = 120
"""Classes and files up to this length are shown whole; longer ones with the bodies of their members folded away."""
SHARED_LINES = 300
"""Several places in a pipe share so many lines."""
_WINDOW = 20  # Lines of a long function above and below the line that is asked for, at most
_SLACK = 1.25  # A place with so many times as many lines as it may have is not cut
_AROUND = 10  # Lines above and below a line that is in no definition
_FIRST_LINES = 3  # Of each of several places, at least
_NUMBER_CHARS = 8  # About as long is the number of a line
MAX_CANDIDATES = 20
"""If a place names several things, this many are shown."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines of a file, each with its number; between `first_line` and `last_line`, lines may be folded away.

    `definition` is None for a file or a part of it. A `stale` file changed after it was indexed.
    """

    root: str
    path: str
    language: str
    definition: Definition | None
    first_line: int
    last_line: int
    lines: tuple[tuple[int, str], ...]
    stale: bool = False

    @property
    def folded(self) -> int:
        """How many lines are folded away."""
        return self.last_line - self.first_line + 1 - len(self.lines)


@dataclass(frozen=True, slots=True)
class FileView:
    """An indexed file as it is now, with its definitions; if it is `stale`, their lines may be wrong."""

    root: str
    path: str
    language: str
    source: str
    definitions: tuple[Definition, ...]
    stale: bool = False


def view_file(spot: Spot) -> FileView:
    """Return a file with its definitions."""
    file, source, stale = _source(spot)
    definitions = tuple(row.of(file) for row in spot.rows())
    return FileView(spot.root, spot.path, file.language, source, definitions, stale)


def read_whole(
    spot: Spot, most: int | None = WHOLE_LINES, most_chars: int | None = None, line: int = 0
) -> Reading:
    """Return the lines of a place.

    A function and a range of lines are never folded, but of a function with more than `most` lines that is asked for by
    a line, its signature and what is around the line are shown. A class or a file with more than `most` lines or
    `most_chars` characters has only what is outside of its members and imports, and the signatures of the members, also
    of classes in it, as far as they fit.
    """
    file, source, stale = _source(spot)
    lines = source.removesuffix("\n").split("\n")
    if spot.row:
        first, last = spot.row.start_line, spot.row.last_line
        is_folded = spot.row.kind in HEADER_KINDS
    elif spot.lines:
        first, last = spot.lines
        if first == last <= len(lines):  # One line without a definition.
            first, last = max(first - _AROUND, 1), last + _AROUND
        is_folded = False
    else:
        first, last, is_folded = 1, len(lines), True
    last = min(last, len(lines))
    if first > last:
        raise IndexNotFoundError(f"{spot.path} has {len(lines)} lines: line {first} is behind its end")

    def fits(shown: Sequence[int]) -> bool:
        size = sum(len(lines[number - 1]) + _NUMBER_CHARS for number in shown)
        return (most is None or len(shown) <= most) and (most_chars is None or size <= most_chars)

    shown: Sequence[int] = range(first, last + 1)
    if is_folded and not fits(shown):
        inside = (row for row in spot.rows() if first <= row.start_line and row.last_line <= last)
        members = by_depth(row for row in inside if row != spot.row)
        if not spot.row and members:
            shown = _without_imports(source, spot.path, file.language, shown, members[0][0].start_line)
        shown = _unfolded(members, lines, shown, fits)
    elif spot.row and line and most is not None and len(shown) > most:
        head = head_of(lines[first - 1 : last], spot.row.signature)
        if line >= first + head.stop:  # Else all of it is meant.
            window = min(_WINDOW, most // 2)
            near = range(max(line - window, first), min(line + window, last) + 1)
            shown = sorted({*range(first + head.start, first + head.stop), *near})
    texts = tuple((number, lines[number - 1].rstrip("\r")) for number in shown)
    return Reading(spot.root, spot.path, file.language, spot.definition, first, last, texts, stale)


def shared(readings: Sequence[Reading], most: int, least: int) -> list[Reading]:
    """Return readings that share `most` lines: of each one its first lines, at least `least` of them.

    A range of lines stays whole.
    """
    given = shares([len(reading.lines) for reading in readings], most)
    return [_shortened(reading, max(count, least)) for reading, count in zip(readings, given, strict=True)]


def _shortened(reading: Reading, most: int) -> Reading:
    is_range = reading.definition is None and not reading.folded
    if is_range or len(reading.lines) <= most * _SLACK:
        return reading
    return replace(reading, lines=reading.lines[:most])


def read_places(
    spots: Sequence[Spot], most: int | None = WHOLE_LINES, most_chars: int | None = None, line: int = 0
) -> list[Reading]:
    """Return the code of a place, asked for by its line if one is given; several places share the lines."""
    readings: list[Reading] = []
    failed: IndexNotFoundError | None = None
    count = min(len(spots), MAX_CANDIDATES)
    most = most and max(most // count, _FIRST_LINES)
    for spot in spots[:count]:
        try:
            readings.append(read_whole(spot, most, most_chars and most_chars // count, line))
        except IndexNotFoundError as error:
            failed = failed or error
    if failed and not readings:
        raise failed
    if len(readings) == 1:
        return readings
    return [replace(reading, lines=reading.lines[: most or _FIRST_LINES]) for reading in readings]


def _source(spot: Spot) -> tuple[FileRecord, str, bool]:
    """Return a file, its text, and whether it changed after it was indexed."""
    if spot.segment is None or spot.file is None:
        raise IndexNotFoundError(f"{spot.path or spot.root} is a folder", "see its outline")
    check_has_code([spot.index])
    if (read := read_source(spot.segment, spot.file)) is None:
        raise IndexNotFoundError(f"{spot.path} is gone or cannot be read", f"run {index_command(spot.root)}")
    return spot.file, read[0].decode("utf-8", "replace").removeprefix("\ufeff"), read[1]


def _without_imports(
    source: str, path: str, language: str, shown: Sequence[int], first_member: int
) -> list[int]:
    """Return the lines without import statements before the first member, and the blank lines behind them."""
    hidden: set[int] = set()
    for statement in import_statements(source, path, language):
        first = source.count("\n", 0, statement.start) + 1
        if first < first_member:
            hidden.update(range(first, first + 1 + source.count("\n", statement.start, statement.end - 1)))
    return _without_blank(shown, source.split("\n"), hidden)


def _without_blank(shown: Sequence[int], lines: Sequence[str], hidden: set[int]) -> list[int]:
    """Return the lines that are not hidden; a blank line after a hidden one says nothing."""
    for number in shown:
        if not lines[number - 1].strip() and number - 1 in hidden:
            hidden.add(number)
    return [number for number in shown if number not in hidden]


def _unfolded(
    levels: Sequence[Sequence[DocumentRow]],
    lines: Sequence[str],
    whole: Sequence[int],
    fits: Callable[[Sequence[int]], bool],
) -> Sequence[int]:
    """Return the lines outside of the members, and those of the members' signatures.

    The members of a class that is the only member are always shown, those of other classes as far as they fit.
    """
    shown = whole
    folded: list[DocumentRow] = []
    for level in levels:
        members = [*(row for row in folded if row.kind not in HEADER_KINDS), *level]
        opened = _without_bodies(members, lines, whole)
        if len(folded) > 1 and not fits(opened):
            more = sorted(set(opened).difference(shown))

            def too_many(count: int, shown: Sequence[int] = shown, more: Sequence[int] = more) -> bool:
                return not fits([*shown, *more[:count]])

            return sorted([*shown, *more[: bisect_left(range(1, len(more)), True, key=too_many)]])
        folded, shown = members, opened
    return shown


def nested(definitions: Iterable[D]) -> Iterator[tuple[list[D], D]]:
    """Yield each definition of a file, in the order of the source, after those around it, the outermost first.

    Names decide about definitions in one line, and about sections, which end where the next one begins. Top-level code
    in no other definition is left out.
    """
    outer: list[D] = []
    for inner in definitions:
        if inner.kind == "module":
            continue
        names = inner.qualified_name.removesuffix(inner.name)
        while outer and not (
            names.startswith(outer[-1].qualified_name)
            if inner.kind in TEXT_KINDS or inner.start_line == outer[-1].last_line
            else inner.last_line <= outer[-1].last_line
        ):
            outer.pop()
        yield outer, inner
        outer.append(inner)


def by_depth(rows: Iterable[DocumentRow]) -> list[list[DocumentRow]]:
    """Return definitions by the number of classes around them; constants and what is in functions are left out."""
    levels: list[list[DocumentRow]] = []
    for outer, row in nested(row for row in rows if row.kind != "constant"):
        if not outer or all(definition.kind in HEADER_KINDS for definition in outer):
            if len(outer) == len(levels):
                levels.append([])
            levels[len(outer)].append(row)
    return levels


def _without_bodies(members: Iterable[DocumentRow], lines: Sequence[str], whole: Sequence[int]) -> list[int]:
    hidden: set[int] = set()
    for row in members:
        head = head_of(lines[row.start_line - 1 : row.last_line], row.signature)
        hidden.update(range(row.start_line + head.stop, row.last_line + 1))
    return _without_blank(whole, lines, hidden)
