"""A place -> its code: lines, a file or a definition, whole or with the bodies of members folded away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from codesearch.errors import IndexNotFoundError
from codesearch.index.source import read_source
from codesearch.search.snippets import head_of
from codesearch.segments.store import DocumentRow
from codesearch.structure.places import Spot, described
from codesearch.types import HEADER_KINDS, Described

WHOLE_LINES = 120
"""Classes and files up to this length are shown whole; longer ones with the bodies of their members folded away."""
_AROUND = 10
"""Lines above and below a line that is in no definition."""
_FIRST_LINES = 3
MAX_CANDIDATES = 20
"""If a place names several things, this many are shown."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Lines of a file. Where line numbers are missing between `first_line` and `last_line`, lines are folded away.

    Attributes:
        root: the indexed folder, or the name of an index without one.
        path: the file, relative to the root.
        language: of the file.
        definition: what was read; None if it is a file or a part of it.
        first_line: of the place, whether it is shown or not.
        last_line: likewise.
        lines: number and text of each line that is shown, ascending.
        stale: the file changed after it was indexed, so lines may have moved.
    """

    root: str
    path: str
    language: str
    definition: Described | None
    first_line: int
    last_line: int
    lines: tuple[tuple[int, str], ...]
    stale: bool = False


@dataclass(frozen=True, slots=True)
class FileView:
    """An indexed file as it is now.

    Attributes:
        root: the indexed folder, or the name of an index without one.
        path: relative to the root.
        language: of the file.
        source: the text; invalid UTF-8 is replaced.
        definitions: in the order of the source.
        stale: the file changed after it was indexed, so the lines of definitions may be wrong.
    """

    root: str
    path: str
    language: str
    source: str
    definitions: tuple[Described, ...]
    stale: bool = False


def view_file(spot: Spot) -> FileView:
    """Return a file with its definitions.

    Raises:
        IndexNotFoundError: it is gone, or the index has no sources.
    """
    source, stale = _source(spot)
    assert spot.file is not None
    definitions = tuple(described(spot.file, row) for row in spot.rows())
    return FileView(spot.root, spot.path, spot.file.language, source, definitions, stale)


def read_whole(spot: Spot, most: int = WHOLE_LINES) -> Reading:
    """Return the lines of a place.

    A function and a range of lines are never folded. A class or a file with more than `most` lines has only what is
    outside of its members, and the signatures of the members.

    Raises:
        IndexNotFoundError: the file is gone, or the index has no sources.
    """
    source, stale = _source(spot)
    lines = source.removesuffix("\n").split("\n")
    if spot.row:
        first, last = spot.row.start_line, spot.row.last_line
        is_folded = spot.row.kind in HEADER_KINDS
    elif spot.lines:
        first, last = spot.lines
        if first == last:  # One line without a definition.
            first, last = max(first - _AROUND, 1), last + _AROUND
        is_folded = False
    else:
        first, last, is_folded = 1, len(lines), True
    last = min(last, len(lines))
    if first > last:
        raise IndexNotFoundError(f"{spot.path} has {len(lines)} lines: line {first} is behind its end")
    shown = list(range(first, last + 1))
    if is_folded and len(shown) > most:
        shown = _unfolded(spot.rows(), lines, first, last, spot.row)
    assert spot.file is not None
    texts = tuple((number, lines[number - 1].rstrip("\r")) for number in shown)
    return Reading(spot.root, spot.path, spot.file.language, spot.described, first, last, texts, stale)


def read_places(spots: Sequence[Spot], most: int | None = None) -> list[Reading]:
    """Return the code of a place; if there are several, the first lines of each that can be read.

    Raises:
        IndexNotFoundError: none can be read: a file is gone, it is a folder, or the index has no sources.
    """
    readings: list[Reading] = []
    failed: IndexNotFoundError | None = None
    for spot in spots[:MAX_CANDIDATES]:
        try:
            readings.append(read_whole(spot, most or WHOLE_LINES))
        except IndexNotFoundError as error:
            failed = failed or error
    if failed and not readings:
        raise failed
    if len(readings) == 1:
        return readings
    return [replace(reading, lines=reading.lines[:_FIRST_LINES]) for reading in readings]


def _source(spot: Spot) -> tuple[str, bool]:
    """Return the text of a file, and whether it changed after it was indexed."""
    if spot.segment is None or spot.file is None:
        raise IndexNotFoundError(f"{spot.path or spot.root} is a folder: see its outline")
    manifest = spot.index.manifest
    if not manifest.has_sources and not manifest.has_code:
        raise IndexNotFoundError(f"{manifest.root} was imported without code: import a file with code")
    found = read_source(spot.segment, spot.file)
    if found is None:
        raise IndexNotFoundError(
            f"{spot.path} is gone or cannot be read: run `codesearch index {manifest.root}`"
        )
    return found[0].decode("utf-8", "replace"), found[1]


def _unfolded(
    rows: Sequence[DocumentRow], lines: Sequence[str], first: int, last: int, outer: DocumentRow | None
) -> list[int]:
    """Return the lines outside of the members, and those of the members' signatures."""
    hidden: set[int] = set()
    end = 0
    for row in rows:
        is_member = row != outer and row.kind not in ("module", "constant")
        if is_member and first <= row.start_line and row.last_line <= last and row.start_line > end:
            end = row.last_line
            body = row.start_line + head_of(lines[row.start_line - 1 : end], row.signature).stop
            if end >= body:
                hidden.update(range(body, end + 1))
    for number in range(first, last + 1):  # A blank line between two folded members says nothing.
        if not lines[number - 1].strip() and number - 1 in hidden:
            hidden.add(number)
    return [number for number in range(first, last + 1) if number not in hidden]
