"""What a user types for a place -> the files, folders, lines and definitions of indexes that it names.

    src/app.py, app.py       a file, by its path or by the end of its path
    src/, src                a folder, likewise
    src/app.py:12            the innermost definition at a line
    src/app.py:12-40         these lines
    app.py::Stack.push       a definition of a file
    Stack.push, push         every definition with this name or this end of its qualified name

A path is relative to the working directory or to the root of an index, or absolute. A whole path comes before the end
of a path, and a path before a name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.search.filters import path_filter
from codesearch.search.lookup import innermost, live_file
from codesearch.search.request import Filters, Place
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.reader import IndexReader
from codesearch.store.segment import SegmentReader
from codesearch.types import Definition

LINES = re.compile(r"(?P<path>.+?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9})|:[0-9]*)?:?", re.DOTALL)
SEPARATORS = re.compile(r"::|[.#\\/]")
_SURROGATES = ("\ud800", "\udfff")
"""The first and the last character that stand for bytes that are not UTF-8."""
_LONGEST = 4_096
_LISTED = 5
"""Places that an error lists."""
_SHOWN = 100
_READ_YOURSELF = "read the file itself, or index everything with `codesearch index --content all`"


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in an index.

    Attributes:
        index: the index.
        path: of a file or folder below the root, without a slash at the end; "" is the root.
        segment: has the file; None for a folder.
        file: None for a folder.
        row: the definition, if the place is one.
        lines: first and last line, if the place is lines.
    """

    index: IndexReader
    path: str
    segment: SegmentReader | None = None
    file: FileRecord | None = None
    row: DocumentRow | None = None
    lines: tuple[int, int] | None = None

    @property
    def root(self) -> str:
        """The indexed folder, or the name of an index without one."""
        return self.index.manifest.root

    @property
    def first_line(self) -> int:
        """The first line of the definition or of the lines, else 1."""
        return self.row.start_line if self.row else self.lines[0] if self.lines else 1

    @property
    def place(self) -> Place:
        """The first line, in its file."""
        return Place(Path(self.root, self.path), self.first_line)

    @property
    def order(self) -> tuple[str, str, int]:
        """What places are sorted by: path, root and line."""
        return self.path, self.root, self.first_line

    @property
    def definition(self) -> Definition | None:
        """The definition, if the place is one."""
        return self.row.of(self.file) if self.file and self.row else None

    def rows(self) -> list[DocumentRow]:
        """Return the definitions of the file, in the order of the source."""
        if self.segment is None or self.file is None:
            return []
        return self.segment.store.document_rows(self.file.first_doc, self.file.doc_count)


def find_spots(
    indexes: Sequence[IndexReader],
    text: str,
    here: Path | str | None = None,
    within: Sequence[Path | str] = (),
    *,
    code: bool = False,
) -> list[Spot]:
    """Return every place that a text names, by path, root and line; at least one."""
    wanted = text.strip()
    if not wanted or len(wanted) > _LONGEST:
        raise ConfigError(
            f"a place has 1 to {_LONGEST:,} characters", "give PATH, PATH:LINE, PATH::NAME or NAME"
        )
    if any(_SURROGATES[0] <= character <= _SURROGATES[1] for character in wanted):
        raise IndexNotFoundError(f"{wanted[:_SHOWN]!r} is not in UTF-8, so it is in no index")
    allowed = {index: path_filter(Filters(within=within), index.root) for index in indexes}
    try:
        found = _without_constructors(_find_spots(indexes, wanted, here, code))
    except IndexNotFoundError:
        for index, path in _unindexed(indexes, wanted, here):
            if allowed[index](path):
                raise IndexNotFoundError(f"{path[:_SHOWN]} is not indexed", _READ_YOURSELF) from None
        raise
    if kept := [spot for spot in found if allowed[spot.index](spot.path)]:
        return kept
    raise IndexNotFoundError(f"{text[:_SHOWN]!r} is outside of {', '.join(map(str, within))}")


def _find_spots(
    indexes: Sequence[IndexReader], wanted: str, here: Path | str | None, code: bool
) -> list[Spot]:
    if match := LINES.fullmatch(wanted):
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else None
        if last is not None and last < first:
            raise ConfigError(f"lines {first}-{last} end before they begin", f"give {last}-{first}")
        if files := _files(indexes, match["path"], here):
            return [_at_lines(spot, first, last) for spot in files]
        raise IndexNotFoundError(
            f"{match['path'][:_SHOWN]} is not in the index", "give the path of a file in it"
        )
    head, mark, name = wanted.partition("::")
    if mark and (files := _files(indexes, head, here)):
        if found := [replace(spot, row=row) for spot in files for row in _named(spot.rows(), name)]:
            return found
        raise IndexNotFoundError(f"{head[:_SHOWN]} has no definition {name[:_SHOWN]!r}", "see its outline")
    if files := _files(indexes, wanted, here):
        return files
    folders = _folders(indexes, wanted, here)
    if found := (find_named(indexes, wanted) if code or not folders else []) or folders:
        return found
    raise IndexNotFoundError(
        f"no file, folder or definition is {wanted[:_SHOWN]!r}", "search for it with a query"
    )


def _without_constructors(spots: Sequence[Spot]) -> list[Spot]:
    """Return places without the constructors that have the name of a class among them."""

    def names(spot: Spot) -> tuple[str, ...]:
        return (spot.root, *SEPARATORS.split(spot.row.qualified_name)) if spot.row else ()

    others = {names(spot) for spot in spots if not (spot.row and spot.row.kind == "method")}
    return [spot for spot in spots if names(spot) in others or names(spot)[:-1] not in others]


def _unindexed(
    indexes: Iterable[IndexReader], wanted: str, here: Path | str | None
) -> Iterator[tuple[IndexReader, str]]:
    """Yield the files below the roots of indexes that have the path of a place and are not indexed."""
    match = LINES.fullmatch(wanted)
    name = match["path"] if match else wanted.partition("::")[0]
    for index in indexes:
        for path in _below(index, name, here) if index.manifest.has_sources else ():
            if os.path.isfile(index.root / path) and not any(_exact([index], path)):
                yield index, path


def definitions_of(text: str, spots: Sequence[Spot]) -> list[Spot]:
    """Return the places that are definitions."""
    if found := [spot for spot in spots if spot.row]:
        return found
    raise ConfigError(f"{text} is no function or class", "give FILE:LINE or a name")


def only_spot(text: str, spots: Sequence[Spot]) -> Spot:
    """Return the only place that a text names."""
    if len(spots) == 1:
        return spots[0]
    listed = ", ".join(f"{spot.path}:{spot.first_line}" for spot in spots[:_LISTED])
    more = f" and {len(spots) - _LISTED} more" if len(spots) > _LISTED else ""
    raise ConfigError(f"{text} names {len(spots)} places", f"give one of them: {listed}{more}")


def find_folders(indexes: Sequence[IndexReader], folders: Sequence[Path]) -> list[Spot]:
    """Return those of some folders that the indexes have."""
    return [spot for folder in folders for spot in _folders(indexes, str(folder), None)]


def find_file(indexes: Sequence[IndexReader], path: str) -> Spot:
    """Return the file with a path relative to the root, exactly as an index has it."""
    if found := list(_exact(indexes, path)):
        return found[0]
    root = indexes[0].manifest.root
    raise IndexNotFoundError(f"{path[:_SHOWN]} is not in the index of {root}", "give a path of a hit")


def find_named(indexes: Sequence[IndexReader], name: str) -> list[Spot]:
    """Return the definitions with a name, by path, root and line.

    A qualified name, such as `Stack.push`, must be the end of the definition's qualified name. If no definition has the
    name in this case, case is ignored.
    """
    last = SEPARATORS.split(name)[-1]
    found = [
        Spot(index, file.path, segment, file, row)
        for index in indexes
        for segment in index.segments
        for file, row in segment.store.documents(
            [
                number
                for number, _, qualified in segment.store.documents_named(last)
                if _ends(qualified, name) and int(segment.rows.files[number]) not in segment.dead_files
            ]
        ).values()
    ]
    exact = [spot for spot in found if spot.row and spot.row.name == last]
    return sorted(exact or found, key=lambda spot: spot.order)


def _at_lines(spot: Spot, first: int, last: int | None) -> Spot:
    """Return the innermost definition at a line, or lines if it has none."""
    if last is not None:
        return replace(spot, lines=(max(first, 1), max(last, 1)))
    rows = spot.rows()
    if (place := innermost(rows, first)) is not None:
        return replace(spot, row=rows[place])
    around = [row for row in rows if row.start_line <= first <= row.last_line]
    if around:  # A field or a comment between two members.
        return replace(spot, row=max(around, key=lambda row: row.start_line))
    return replace(spot, lines=(max(first, 1), max(first, 1)))


def _named(rows: Iterable[DocumentRow], name: str) -> list[DocumentRow]:
    last = SEPARATORS.split(name)[-1]
    found = [row for row in rows if row.name.lower() == last.lower() and _ends(row.qualified_name, name)]
    return [row for row in found if row.name == last] or found


def _ends(qualified: str, name: str) -> bool:
    wanted = SEPARATORS.split(name.lower())
    return SEPARATORS.split(qualified.lower())[-len(wanted) :] == wanted


def _files(indexes: Sequence[IndexReader], text: str, here: Path | str | None) -> list[Spot]:
    """Return the files with this path; if there are none, those whose path ends in it."""
    found = [
        spot for index in indexes for path in _below(index, text, here) for spot in _exact([index], path)
    ]
    if not found and not os.path.isabs(text):
        ending = text.replace(os.sep, "/").removeprefix("./")
        found = [
            Spot(index, file.path, segment, file)
            for index in indexes
            for segment in index.segments
            for file_id, file in segment.store.files_ending(ending)
            if file_id not in segment.dead_files
        ]
    return sorted(dict.fromkeys(found), key=lambda spot: spot.order)


def _exact(indexes: Iterable[IndexReader], path: str) -> Iterator[Spot]:
    for index in indexes:
        if found := live_file(index, path):
            yield Spot(index, path, *found)


def _folders(indexes: Sequence[IndexReader], text: str, here: Path | str | None) -> list[Spot]:
    """Return the folders with this path; if there are none, those whose path ends in it."""
    found = []
    for index in indexes:
        folders = folders_of(index)
        exact = [path for base in (here, None) for path in _below(index, text, base) if path in folders][:1]
        ending = f"/{text.replace(os.sep, '/').removeprefix('./').strip('/')}"
        found += [(not exact, index, path) for path in exact]
        if not os.path.isabs(text) and not exact:
            found += [(True, index, path) for path in sorted(folders) if f"/{path}".endswith(ending)]
    best = min((is_end for is_end, _, _ in found), default=False)
    spots = [Spot(index, path) for is_end, index, path in found if is_end == best]
    return sorted(dict.fromkeys(spots), key=lambda spot: spot.order)


def folders_of(index: IndexReader) -> set[str]:
    """Return the folders of all live files of an index, relative to the root; the root is ""."""
    folders = {""}
    for _, file in live_files(index):
        folder = file.path.rpartition("/")[0]
        while folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def live_files(index: IndexReader) -> Iterator[tuple[SegmentReader, FileRecord]]:
    """Yield (segment, file) of each live file of an index."""
    for segment in index.segments:
        for file_id, file in enumerate(segment.files):
            if file_id not in segment.dead_files:
                yield segment, file


def _below(index: IndexReader, text: str, base: Path | str | None) -> list[str]:
    """Return what a path relative to `base`, or to the root if that is None, is below the root of an index."""
    if not index.manifest.has_sources:
        inner, name = text.replace(os.sep, "/").removeprefix("./").strip("/"), index.manifest.root
        return ["" if inner in (name, ".") else inner.removeprefix(f"{name}/")]
    found = []
    whole = os.path.normpath(os.path.join(base or index.manifest.root, os.path.expanduser(text)))
    for spelling in (whole, os.path.realpath(whole)):
        if spelling == index.manifest.root:
            found.append("")
        elif spelling.startswith(os.path.join(index.manifest.root, "")):
            found.append(Path(spelling).relative_to(index.manifest.root).as_posix())
    return list(dict.fromkeys(found))
