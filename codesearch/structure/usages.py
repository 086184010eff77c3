"""A name -> where it is used: every occurrence as a whole word, with the definition around it and a grade.

The index proposes files, and the name is looked for in their sources, so text is matched, not types. An occurrence is
`certain` to mean a definition if it is in the same file, or in the same class for members, or if its file imports the
name from the file of the definition. Otherwise it is `likely` the only definition of that name, or `one of several`.
What stands in comments comes last.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.search.filters import path_filter
from codesearch.search.forms import parse_asked
from codesearch.search.literals import check_has_code, proposed_files, read_with
from codesearch.search.request import Filters
from codesearch.search.snippets import head_of
from codesearch.store.reader import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref
from codesearch.structure.meaning import (
    GRADES,
    IN_COMMENTS,
    Names,
    SourceFile,
    graded,
    in_comment,
    occurrences,
    qualifier,
)
from codesearch.structure.places import definitions_among, find_spots, members_among
from codesearch.text.terms import terms_of
from codesearch.types import FIELD, OF_FILE, Definition

MOST_NAME = 200
MOST_DEFINITIONS = 10
"""Definitions that are listed; all are counted."""
_MOST_IN_FILE = 10_000
_MOST_HEAD = 10
"""Lines of a definition before the line with its name, at most."""
_TEXT_BEFORE, _TEXT_AFTER = 80, 160
"""Bytes of a long line before and behind the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined(Definition):
    """A definition of a name; its path is below `root`."""

    root: str


@dataclass(frozen=True, slots=True)
class Usage:
    """An occurrence of a name outside of its definitions' own names.

    `text` is its line, or a part of it, and `may_be` has "path:line" of the definitions that it can mean. In a `stale`
    file, which changed after it was indexed, `inside`, the definition around the usage, may be wrong.
    """

    root: str
    path: str
    line: int
    column: int
    text: str
    grade: str
    may_be: tuple[str, ...]
    inside: Definition | None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Usages:
    """Where a name is used: the best grade first, then source code before other files, then by path and line.

    The counts are of everything that was read; `unread_files` may have the name and were not read.
    """

    name: str
    definitions: tuple[Defined, ...]
    definition_count: int
    usages: tuple[Usage, ...]
    usage_count: int
    grades: dict[str, int]
    file_count: int
    unread_files: int
    seconds: float


class _Occurrence(NamedTuple):
    grade: int
    is_other: bool
    file: SourceFile
    position: int
    line: int
    may_be: Sequence[Ref]


def find_usages(
    indexes: Sequence[IndexReader],
    text: str,
    filters: Filters | None = None,
    *,
    limit: int = 20,
    here: Path | str | None = None,
    folders: Sequence[Path] = (),
) -> Usages:
    """Return the usages of a name, or of the definition at a place."""
    started = time.perf_counter()
    check_has_code(indexes)
    wanted = text.strip()
    if not wanted or len(wanted) > MOST_NAME or not wanted.isprintable():
        raise ConfigError(
            f"a name has 1 to {MOST_NAME} printable characters", "give NAME, PATH:LINE or PATH::NAME"
        )
    snapshot, filters = Snapshot(indexes), filters or Filters()
    usages, unread = list[_Occurrence](), 0
    for name, targets, everything in _meant(indexes, snapshot, wanted, here, folders):
        usages, unread = _usages_of(snapshot, Names(name, everything, targets), filters)
        if usages or unread:
            break
    counts = Counter(GRADES[usage.grade] for usage in usages)
    return Usages(
        name,
        tuple(Defined(*astuple(ref.definition), root=ref.root) for ref in targets[:MOST_DEFINITIONS]),
        len(targets),
        tuple(map(_hydrated, usages[:limit])),
        len(usages),
        {grade: counts[grade] for grade in GRADES if counts[grade]},
        len({usage.file for usage in usages}),
        unread,
        time.perf_counter() - started,
    )


def _meant(
    indexes: Sequence[IndexReader],
    snapshot: Snapshot,
    text: str,
    here: Path | str | None,
    folders: Sequence[Path],
) -> Iterator[tuple[str, list[Ref], list[Ref]]]:
    """Yield what a text may mean, first what is most probable: the name, the definitions, and all of that name.

    A name that is only defined in another case or spelling first means the text itself, such as a module.
    """
    asked = parse_asked(text)
    allowed = {index.manifest.root: path_filter(Filters(within=folders), index.root) for index in indexes}
    try:
        spots = find_spots(indexes, text, here, folders, only_definitions=True)
    except (ConfigError, IndexNotFoundError):
        if asked.first or "::" in text:
            raise
        yield text, [], []
        return
    places = {(spot.root, spot.path, spot.row) for spot in spots}
    name = spots[0].row.name if spots[0].row else ""
    named = [doc_id for doc_id, exact, _ in snapshot.named(name) if exact == name]
    if spots[0].row and spots[0].row.kind == FIELD:
        everything = [ref for ref in members_among(snapshot, (name,)) if allowed[ref.root](ref.path)]
    else:
        everything = [
            ref for ref in definitions_among(snapshot, named, (name,)) if allowed[ref.root](ref.path)
        ]
    targets = [ref for ref in everything if (ref.root, ref.path, ref.row) in places]
    if not asked.first and name not in (*asked.inside[-1:], *asked.names[-1:], text):
        yield text, [], []
    yield name, targets or everything, everything


def _usages_of(snapshot: Snapshot, names: Names, filters: Filters) -> tuple[list[_Occurrence], int]:
    """Return the usages of a name, and how many files with its words were not read."""
    terms = sorted(terms_of(names.text))
    if not terms:
        raise ConfigError(f"{names.text!r} has no letters or digits", "the index finds words")
    files = proposed_files(snapshot, terms, filters)
    files.sort(key=lambda file: (file.segment.root, file.file.path) not in names.target_files)
    read, unread = read_with(
        lambda source, language: next(occurrences(source, names.name, language), None) is not None, files
    )
    usages = [usage for file in read for usage in _in_file(SourceFile(*file), names)]
    usages.sort(key=lambda usage: (*usage[:2], usage.file.path, usage.file.root, usage.position))
    return usages, unread


def _in_file(file: SourceFile, names: Names) -> list[_Occurrence]:
    """Return the usages in a file that can mean a definition that is asked for, the best of each line."""
    own = _own_names(file, names)
    segment, record = file.proposed.segment, file.proposed.file
    has_flags = record.doc_count and segment.rows["flags"][record.first_doc] & OF_FILE
    line, seen = 1, 0
    of_line: dict[int, _Occurrence] = {}
    for position in islice(occurrences(file.source, names.name, file.language), _MOST_IN_FILE):
        line, seen = line + file.source.count(b"\n", seen, position), position
        if own and own[0][0] <= line <= own[0][0] + _MOST_HEAD:
            _, owner = own.pop(0)
            # As in C#, `void IShape.Draw()` can define a member and name another one.
            if qualifier(file.source, position) not in names.owners - {owner, ""}:
                continue
        grade, may_be = graded(file, names, position, line)
        if in_comment(file.source, position, file.language):
            grade = IN_COMMENTS
        if not names.only_targets or any(ref.doc_id in names.targets for ref in may_be):
            if line not in of_line or grade < of_line[line].grade:
                of_line[line] = _Occurrence(grade, bool(has_flags), file, position, line, may_be)
    return list(of_line.values())


def _own_names(file: SourceFile, names: Names) -> list[tuple[int, str]]:
    """Return the line where the signature of each definition in a file begins, behind attributes, and its owner."""
    own = names.in_file(file.root, file.path)
    lines = file.source.decode("utf-8", "replace").split("\n") if own else []
    return [
        (line + head_of(lines[line - 1 : line + _MOST_HEAD], ref.row.signature).start, ref.owner)
        for ref in own
        for line in (ref.row.start_line,)
    ]


def _hydrated(usage: _Occurrence) -> Usage:
    """Return a usage with its line and the definition around it."""
    file, source, position = usage.file, usage.file.source, usage.position
    start, end = source.rfind(b"\n", 0, position) + 1, source.find(b"\n", position)
    end = end if end >= 0 else len(source)
    text = source[max(start, position - _TEXT_BEFORE) : min(end, position + _TEXT_AFTER)]
    number, record, inside = file.innermost(usage.line), file.proposed.file, None
    if number is not None:
        (row,) = file.proposed.segment.store.document_rows(record.first_doc + number, 1)
        inside = row.of(record)
    return Usage(
        file.root,
        file.path,
        usage.line,
        len(source[start:position].decode("utf-8", "replace")) + 1,
        text.decode("utf-8", "replace").strip(),
        GRADES[usage.grade],
        tuple(ref.place for ref in usage.may_be[:MOST_DEFINITIONS]),
        inside,
        file.stale,
    )
