"""A name -> where it is used: every occurrence as a whole word, with the definition around it and a grade.

The index proposes files, and the name is looked for in their sources, so text is matched, not types. An occurrence is
`certain` to mean a definition if it is in the same file, or in the same class for members, or if its file imports the
name from the file of the definition. Otherwise it is `likely` the only definition of that name, or `one of several`.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from codesearch.analysis.terms import terms_of
from codesearch.config import RankConfig
from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.index.reader import IndexReader
from codesearch.index.snapshot import Snapshot
from codesearch.index.source import read_source
from codesearch.parsing.languages import language_named
from codesearch.search.lexical import LexicalScorer
from codesearch.search.request import Filters
from codesearch.search.sources import MOST_BYTES, MOST_FILES, Proposed, proposed_files, within_limits
from codesearch.structure.imports import Statement, by_module, module_parts, statements
from codesearch.structure.places import LINES, SEPARATORS, described, find_spots
from codesearch.structure.words import occurrences, qualifier
from codesearch.types import KINDS, NESTED, OF_FILE, Described

GRADES = ("certain", "likely", "one of several", "no definition")
MOST_NAME = 200
MOST_DEFINITIONS = 10
"""Definitions that are listed; all are counted."""
_MOST_IN_FILE = 10_000
_MOST_HEAD = 10
"""Lines of attributes between the start of a definition and its name."""
_TEXT_BEFORE, _TEXT_AFTER = 80, 160
"""Bytes of a long line before and behind the name."""
_SELF = frozenset({"self", "this", "cls", "Self", "static"})
_NEEDS_SELF = frozenset("python javascript typescript tsx vue svelte go rust php lua perl zig".split())
"""Languages in which a member is never used without a qualifier."""
_FAMILIES = (
    ("javascript", "typescript", "tsx", "vue", "svelte", "html", "coffeescript"),
    ("c", "cpp", "objc"),
    ("java", "kotlin", "scala", "groovy"),
    ("ocaml", "ocamli"),
)
_FAMILY = {language: family[0] for family in _FAMILIES for language in family}


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined(Described):
    """A definition of a name; its path is below `root`."""

    root: str


@dataclass(frozen=True, slots=True)
class Usage:
    """An occurrence of a name outside of its definitions' own names.

    Attributes:
        root: the indexed folder, or the name of an index without one.
        path: the file, relative to the root.
        line: 1-based.
        column: 1-based, in characters.
        text: the line without the space around it; a part of it if it is long.
        grade: one of `GRADES`.
        may_be: "path:line" of the definitions that it can mean, at most `MOST_DEFINITIONS`.
        inside: the innermost definition around it; None at the top level of a file.
        stale: the file changed after it was indexed, so `inside` may be wrong.
    """

    root: str
    path: str
    line: int
    column: int
    text: str
    grade: str
    may_be: tuple[str, ...]
    inside: Described | None
    stale: bool = False


@dataclass(frozen=True, slots=True)
class Usages:
    """Where a name is used.

    Attributes:
        name: as it stands in the sources.
        definitions: of this name or at the place that was asked for, at most `MOST_DEFINITIONS`.
        definition_count: of all of them.
        usages: the best grade first, then source code before tests and other files, then by path and line.
        usage_count: of all usages in the files that were read.
        grades: grade -> number of usages.
        file_count: how many files have usages.
        unread_files: how many more files have the words of the name and were not read, because there are too many.
        seconds: to find them.
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


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A definition of the name that is asked for."""

    number: int
    root: str
    path: str
    language: str
    name: str
    qualified: str
    line: int
    is_method: bool
    is_nested: bool

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def around(self) -> str:
        """What is before the name in the qualified name, with the separator."""
        return self.qualified[: len(self.qualified) - len(self.name)]

    @cached_property
    def separator(self) -> str:
        spec = language_named(self.language)
        return spec.separator if spec else "."

    @cached_property
    def owner(self) -> str:
        """The last name around it, or ""."""
        return self.around.removesuffix(self.separator).rpartition(self.separator)[2]

    @cached_property
    def modules(self) -> tuple[tuple[str, ...], ...]:
        parts = module_parts(f"{self.root.strip('/')}/{self.path}")
        return parts, parts[:-1]


class _Names:
    """The definitions of a name.

    Attributes:
        name: in the bytes of the sources.
        targets: those that are asked for.
    """

    def __init__(self, name: str, everything: Sequence[_Candidate], targets: Sequence[_Candidate]) -> None:
        self.name, self.text = name.encode(), name
        self.targets = {one.number for one in targets}
        self.only_targets = len(targets) < len(everything)
        self._all = everything
        self._by_family: defaultdict[tuple[str, str], list[_Candidate]] = defaultdict(list)
        self._by_file: defaultdict[tuple[str, str], list[_Candidate]] = defaultdict(list)
        for one in everything:
            family = _FAMILY.get(one.language, one.language)
            self._by_family[one.root, family].append(one)
            self._by_family["", family].append(one)
            self._by_file[one.root, one.path].append(one)
        self.modules = by_module(everything)
        self.has_only_methods = all(one.is_method for one in everything)
        self.owners = {one.owner for one in everything}

    def in_file(self, root: str, path: str) -> Sequence[_Candidate]:
        """Return the definitions in a file, in the order of lines."""
        return self._by_file.get((root, path), ())

    def possible(self, file: _File) -> Sequence[_Candidate]:
        """Return what the name can mean in a file: its definitions in related languages and the same root, else all."""
        family = _FAMILY.get(file.language, file.language)
        by_family = self._by_family
        return by_family.get((file.root, family)) or by_family.get(("", family)) or self._all


class _File:
    """A file that is looked through."""

    def __init__(self, proposed: Proposed, source: bytes, stale: bool) -> None:
        self.proposed, self.source, self.stale = proposed, source, stale
        self.root, self.path = proposed.segment.root, proposed.file.path
        self.language = proposed.file.language
        self.meant: dict[str | int | None, list[_Candidate]] = {}

    @cached_property
    def imports(self) -> list[Statement]:
        """Its import statements."""
        return statements(self.source, self.path, self.language)

    @cached_property
    def spans(self) -> list[tuple[int, int, str]]:
        """(first line, last line, qualified name) of its definitions, outer ones first."""
        file = self.proposed.file
        return self.proposed.segment.store.document_spans(file.first_doc, file.doc_count)

    def innermost(self, line: int) -> int | None:
        """Return the position of the innermost definition around a line."""
        around = (place for place, (first, last, _) in enumerate(self.spans) if first <= line <= last)
        return max(around, key=lambda place: (self.spans[place][0], -self.spans[place][1]), default=None)


class _Found(NamedTuple):
    grade: int
    is_other: bool
    file: _File
    place: int
    line: int
    may_be: Sequence[_Candidate]


def find_usages(
    indexes: Sequence[IndexReader],
    text: str,
    filters: Filters | None = None,
    *,
    limit: int = 20,
    here: Path | str | None = None,
) -> Usages:
    """Return the usages of a name, or of the definition at a place.

    Args:
        indexes: where to look.
        text: a name, the end of a qualified name, PATH:LINE or PATH::NAME.
        filters: languages and paths; kinds are ignored.
        limit: usages to return.
        here: working directory; paths may be relative to it.

    Raises:
        ConfigError: the text is empty or too long, has no words, or names a file or folder.
        IndexNotFoundError: nothing is at the place, or no index has sources.
    """
    started = time.perf_counter()
    if not any(index.manifest.has_sources or index.manifest.has_code for index in indexes):
        roots = ", ".join(index.manifest.root for index in indexes)
        raise IndexNotFoundError(
            f"{roots} has no code to look in: import a file that was exported --with-code"
        )
    name, targets, everything = _asked(indexes, text, here)
    terms = sorted(terms_of(name))
    if not terms:
        raise ConfigError(f"{name!r} has no letters or digits: the index finds words")
    snapshot = Snapshot(indexes)
    files = proposed_files(snapshot, LexicalScorer(snapshot, RankConfig()), terms, filters or Filters())
    with_definition = {(one.root, one.path) for one in targets}
    files.sort(key=lambda one: (one.segment.root, one.file.path) not in with_definition)
    read = within_limits(files, MOST_FILES, MOST_BYTES)
    names = _Names(name, everything, targets)
    found = [one for file in read for one in _in_file(file, names)]
    found.sort(key=lambda one: (one.grade, one.is_other, one.file.path, one.file.root, one.place))
    counts = Counter(GRADES[one.grade] for one in found)
    return Usages(
        name,
        tuple(_defined(snapshot, targets[:MOST_DEFINITIONS])),
        len(targets),
        tuple(map(_hydrated, found[:limit])),
        len(found),
        {grade: counts[grade] for grade in GRADES if counts[grade]},
        len({id(one.file) for one in found}),
        len(files) - len(read),
        time.perf_counter() - started,
    )


def _asked(
    indexes: Sequence[IndexReader], text: str, here: Path | str | None
) -> tuple[str, list[_Candidate], list[_Candidate]]:
    """Return the name that is asked for, the definitions that are meant, and all definitions of the name."""
    wanted = text.strip()
    if not wanted or len(wanted) > MOST_NAME or not wanted.isprintable():
        raise ConfigError(
            f"a name has 1 to {MOST_NAME} printable characters: give NAME, PATH:LINE or PATH::NAME"
        )
    parts = SEPARATORS.split(wanted)
    everything = _candidates(indexes, parts[-1])
    if targets := [one for one in everything if SEPARATORS.split(one.qualified)[-len(parts) :] == parts]:
        return parts[-1], targets, everything
    if not LINES.fullmatch(wanted) and "::" not in wanted:
        return wanted, [], []
    spots = [spot for spot in find_spots(indexes, wanted, here) if spot.row]
    if not spots:
        raise IndexNotFoundError(f"{wanted} is in no definition: give a line inside one")
    name = spots[0].row.name if spots[0].row else ""
    everything = _candidates(indexes, name)
    meant = {
        (spot.root, spot.path, spot.row.start_line) for spot in spots if spot.row and spot.row.name == name
    }
    return name, [one for one in everything if (one.root, one.path, one.line) in meant], everything


def _candidates(indexes: Sequence[IndexReader], name: str) -> list[_Candidate]:
    """Return the live definitions with exactly this name.

    Sections, settings and modules only count if there is no other. A constructor with the name of its class does not.
    """
    found: list[tuple[bool, _Candidate]] = []
    for base, segment in Snapshot(indexes).based_segments():
        named = segment.store.places_named(name)
        files = segment.store.files_of({int(segment.rows.files[number]) for number, _, _ in named})
        for number, qualified, line in named:
            file_id = int(segment.rows.files[number])
            if file_id in segment.dead_files:
                continue
            kind, path = KINDS[segment.rows.kinds[number]], files[file_id].path
            one = _Candidate(
                base + number,
                segment.root,
                path,
                files[file_id].language,
                name,
                qualified,
                line,
                is_method=kind == "method",
                is_nested=bool(segment.rows.flags[number] & NESTED),
            )
            found.append((kind in ("section", "setting", "module"), one))
    least = min((is_text for is_text, _ in found), default=False)
    types = {(one.root, one.path) for _, one in found if not one.is_method}
    chosen = [
        one
        for is_text, one in found
        if is_text == least and not (one.owner == name and one.is_method and (one.root, one.path) in types)
    ]
    return sorted(chosen, key=lambda one: (one.path, one.root, one.line))


def _in_file(proposed: Proposed, names: _Names) -> list[_Found]:
    """Return the usages in a file that can mean a definition that is asked for, the best of each line."""
    read = read_source(proposed.segment, proposed.file)
    if read is None:
        return []
    file = _File(proposed, *read)
    own = [one.line for one in names.in_file(file.root, file.path)]
    has_flags = proposed.file.doc_count and proposed.segment.rows.flags[proposed.file.first_doc] & OF_FILE
    line, seen = 1, 0
    of_line: dict[int, _Found] = {}
    for place in islice(occurrences(file.source, names.name, file.language), _MOST_IN_FILE):
        line, seen = line + file.source.count(b"\n", seen, place), place
        if own and own[0] <= line <= own[0] + _MOST_HEAD:  # The name of the definition itself.
            own.pop(0)
            continue
        grade, may_be = _graded(file, names, place, line)
        if not names.only_targets or any(one.number in names.targets for one in may_be):
            found = _Found(grade, bool(has_flags), file, place, line, may_be)
            if line not in of_line or grade < of_line[line].grade:
                of_line[line] = found
    return list(of_line.values())


def _graded(file: _File, names: _Names, place: int, line: int) -> tuple[int, Sequence[_Candidate]]:
    """Return the grade of an occurrence, as a position in `GRADES`, and what it can mean."""
    if not names.modules:
        return len(GRADES) - 1, ()
    own = names.in_file(file.root, file.path)
    before = qualifier(file.source, place)
    meant = [one for one in own if _reaches(one, file, line, before)]
    if not meant:
        meant = _imported(file, names, place, before)
    if len(meant) == 1:
        return 0, meant
    possible = meant or names.possible(file)
    return (1 if len(possible) == 1 else 2 if possible else 3), possible


def _reaches(one: _Candidate, file: _File, line: int, before: str | None) -> bool:
    """Say whether an occurrence in the file of a definition means this definition."""
    if before is not None and before == one.owner:
        return True
    is_plain = before is None or before in _SELF
    if not one.is_method and not one.is_nested:
        return is_plain
    if not is_plain or (before is None and one.is_method and file.language in _NEEDS_SELF):
        return False
    inside = file.innermost(line)
    return inside is not None and f"{file.spans[inside][2]}{one.separator}".startswith(one.around)


def _imported(file: _File, names: _Names, place: int, before: str | None) -> list[_Candidate]:
    """Return the definitions in other files that the import statements of a file name."""
    if before not in names.owners and names.has_only_methods:
        return []
    imports = file.imports
    around = bisect_right(imports, place, key=lambda one: one.start) - 1
    is_inside = around >= 0 and place < imports[around].end
    key = around if is_inside else before
    if key not in file.meant:
        chosen = imports[around : around + 1] if is_inside else imports
        file.meant[key] = _meant(chosen, names, None if is_inside else before, names.possible(file))
    return file.meant[key]


def _meant(
    imports: Sequence[Statement], names: _Names, before: str | None, possible: Sequence[_Candidate]
) -> list[_Candidate]:
    """Return the definitions that agree best with the statements that name them or the word before the name."""
    best, found, allowed = 1, list[_Candidate](), set(possible)
    word = names.text if before is None else before
    for statement in imports:
        is_named = word in statement.text and word in statement.words
        if not is_named and not statement.opens_all:
            continue
        for score, one in statement.agreeing(names.modules, names.text):
            if before is None:
                is_meant = not one.is_method
            else:
                is_meant = before == one.owner if one.is_method or not is_named else True
            if is_meant and score >= best and one in allowed:
                found = [*(found if score == best else ()), one]
                best = score
    return list(dict.fromkeys(found))


def _hydrated(found: _Found) -> Usage:
    """Return a usage with its line and the definition around it."""
    file, source, place = found.file, found.file.source, found.place
    start, end = source.rfind(b"\n", 0, place) + 1, source.find(b"\n", place)
    end = end if end >= 0 else len(source)
    text = source[max(start, place - _TEXT_BEFORE) : min(end, place + _TEXT_AFTER)]
    number = file.innermost(found.line)
    segment, record = file.proposed.segment, file.proposed.file
    inside = None
    if number is not None:
        (row,) = segment.store.document_rows(record.first_doc + number, 1)
        inside = described(record, row)
    return Usage(
        file.root,
        file.path,
        found.line,
        len(source[start:place].decode("utf-8", "replace")) + 1,
        text.decode("utf-8", "replace").strip(),
        GRADES[found.grade],
        tuple(one.place for one in found.may_be[:MOST_DEFINITIONS]),
        inside,
        file.stale,
    )


def _defined(snapshot: Snapshot, targets: Sequence[_Candidate]) -> Iterator[Defined]:
    for stored in snapshot.stored([one.number for one in targets]):
        yield Defined(stored.file.path, stored.file.language, *stored.row.described, root=stored.source.root)
