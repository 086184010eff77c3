"""A name -> where it is used: every line that has it as a whole word, with the definition around it and a grade.

The index proposes files, and the name is looked for in their sources, so text is matched, not types. `meaning` says
which definitions an occurrence can mean, and how sure that is. `exports` has what other files call a definition. Lines
with the name that can only mean another definition are counted.

The last part of a qualified name is looked for. `@name`, `$name`, `:name`, `name=` and, where it is no definition,
`name?` stand for `name`.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.languages import family_of, language_of_path, record_of
from codesearch.parsing.flags import is_beside, is_test
from codesearch.search.exact import Proposed, check_has_code, proposed_files, read_with
from codesearch.search.forms import parse_asked
from codesearch.search.lookup import near_names
from codesearch.search.request import Filters
from codesearch.search.snippets import head_of
from codesearch.store.database import DocumentRow
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import Ref
from codesearch.structure.buffers import Buffers
from codesearch.structure.exports import Export, exports_of, is_barrel
from codesearch.structure.imports import DEFAULT, composed
from codesearch.structure.interfaces import implementing
from codesearch.structure.meaning import (
    CERTAIN,
    DECLARED,
    GRADES,
    IN_COMMENTS,
    IN_FILE_NAME,
    LIKELY,
    SEVERAL,
    Names,
    SourceFile,
    embeds,
    graded,
    has_name,
    impl_of,
    in_comment,
    is_base,
    is_whole,
    occurrences,
    qualifier,
)
from codesearch.structure.places import allowed_paths, find_spots, place_in_order
from codesearch.structure.receivers import Types
from codesearch.text.terms import terms_of
from codesearch.types import HEADER_KINDS, OF_FILE, TEST, TYPE_KINDS, Definition

MOST_NAME = 200
MOST_DEFINITIONS = 10
"""Definitions that are listed; all are counted."""
_MOST_DERIVED = 50  # When so many derived types are known, no further ones are looked for
_MOST_IN_FILE = 10_000
_SIGILS, _MARKS = "@$:", "?!="  # What may stand before and behind a name without being part of it
_MOST_HEAD = 10  # Lines of a definition before the line with its name, at most
_IMPORTED = re.compile(r"=\s*(?:await\s+)?(?:require|import)\b|^[\w$]+ as [\w$]+$")
_EMBEDDED = re.compile(r"\*?(?:\w+\.)?\w+(?:\[.*\])?(?: `.*`)?")
_ATTRIBUTE = re.compile(r"\s*\[(?:\w+:\s*)?(?:[\w.]+(?:\([^)]*\))?,\s*)*(?:\w+\.)*")
_TEXT_BEFORE, _TEXT_AFTER = 80, 160  # Characters of a long line before and behind the name


@dataclass(frozen=True, slots=True, kw_only=True)
class Defined(Definition):
    """A definition of a name; its path is below `root`."""

    root: str


@dataclass(frozen=True, slots=True)
class Usage:
    """An occurrence of a name outside of its definitions' own names.

    `text` is its line, or a part of it, and `may_be` has "path:line" of the definitions that it can mean. In a `stale`
    file, which changed after it was indexed, `inside`, the definition around the usage, may be wrong. `other_code` says
    that the file has tests or examples, is a migration, or is generated, vendored or built.
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
    other_code: bool = False


@dataclass(frozen=True, slots=True)
class Usages:
    """Where a name is used: source code before other code, then the best grade first, then by path and line.

    The counts are of everything that was read; `unread_files` may have the name and were not all read. Possible usages,
    comments and strings are only counted, in `grades`, and so is other code, in `other_code`, unless there is nothing
    else. `listed_count` of the usages can be in `usages`: also not the base of a definition in `derived`, nor an import
    in a file that has another usage. `used_files` have certain or likely lines; `used_elsewhere` of these are in other
    code. `elsewhere` counts other lines that have the name: they can only mean other definitions or are prototypes, or
    the name is a part of a longer one. `derived` are definitions whose headers have the name, or an abstract type among
    them, as a base; in Go, types that embed it or have its methods by name and numbers of parameters; of a method with
    its type, the methods of derived types. If the name has no definition with what stood before it, that is `not_in`. A
    name without a definition has its other spellings in `near`, or if nothing has the name, the nearest names.
    """

    name: str
    not_in: str
    definitions: tuple[Defined, ...]
    definition_count: int
    usages: tuple[Usage, ...]
    usage_count: int
    grades: dict[str, int]
    file_count: int
    unread_files: int
    elsewhere: int
    other_code: int
    listed_count: int
    derived: tuple[Defined, ...]
    derived_count: int
    near: tuple[str, ...]
    seconds: float
    used_files: int
    used_elsewhere: int


class Occurrence(NamedTuple):
    """A line with a name that can mean what is asked for; the grade is a position in `GRADES`."""

    is_other: bool
    grade: int
    file: SourceFile
    position: int
    line: int
    may_be: Sequence[Ref]

    @property
    def is_import(self) -> bool:
        """Say whether it stands in an import statement."""
        return self.grade != DECLARED and self.file.import_around(self.position) is not None


class Occurrences(NamedTuple):
    """The lines with a name."""

    usages: list[Occurrence]
    unread: int  # files that were not all read
    elsewhere: int  # other lines with the name


_Line = tuple[SourceFile, int]


def find_usages(
    indexes: Sequence[IndexReader],
    text: str,
    filters: Filters | None = None,
    *,
    limit: int = 20,
    all_code: bool = False,
    tests: bool = False,
    with_derived: bool = True,
    here: Path | str | None = None,
    folders: Sequence[Path] = (),
) -> Usages:
    """Return the usages of a name, or of the definition at a place.

    With `all_code`, no usage is only counted. With `tests`, the usages are the first one in each test, and then
    the first line of each other file of tests that has the name in its own.
    """
    started = time.perf_counter()
    check_has_code(indexes)
    name = composed(text.strip())
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise ConfigError(
            f"a name has 1 to {MOST_NAME} printable characters", "give NAME, PATH:LINE or PATH::NAME"
        )
    search = Search(indexes, filters, here, folders)
    names, found = search.first_used(name)
    usages, derived, hidden = found.usages, list[Defined](), 0
    if tests:
        in_tests = first_in_tests(usages, names)
        listed = usages = [*in_tests, *search.named_after(names, in_tests)]
    else:
        bases = derived_by(usages, names)
        if with_derived:
            derived, hidden = search.derived(names, bases, all_code=all_code)
        listed = usages if all_code else _telling(usages, names, bases)
    sure = [usage for usage in usages if usage.grade < SEVERAL] if names.targets else usages
    other_code = max(sum(usage.is_other for usage in sure) - sum(usage.is_other for usage in listed), 0)
    counts = Counter(GRADES[usage.grade] for usage in usages)
    good = [usage for usage in usages if usage.grade in (CERTAIN, LIKELY)]
    return Usages(
        *(names.name, names.owner, defined(names.targets[:MOST_DEFINITIONS]), len(names.targets)),
        *(tuple(map(_hydrated, listed[:limit])), len(usages)),
        {grade: counts[grade] for grade in GRADES if counts[grade]},
        len({usage.file for usage in usages}),
        *(found.unread, found.elsewhere, other_code, len(listed)),
        *(tuple(derived[:limit]), len(derived) + hidden),
        () if names.targets else search.near(names.name, has_lines=any((usages, *found[1:]))),
        time.perf_counter() - started,
        *(len({usage.file for usage in good}), sum(usage.is_other for usage in good)),
    )


class Search:
    """Finds the lines of a name, and what derives from it, in some indexes."""

    def __init__(
        self,
        indexes: Sequence[IndexReader],
        filters: Filters | None,
        here: Path | str | None,
        folders: Sequence[Path],
        buffers: Buffers | None = None,
    ) -> None:
        self._indexes, self._here, self._folders = indexes, here, folders
        self._buffers = buffers or Buffers((), {})
        self._snapshot, self._filters = Snapshot(indexes), filters or Filters()
        self._allowed = allowed_paths(indexes, folders)
        self.types = Types(partial(self._buffers.named, self._snapshot))
        self._sources: dict[Proposed, SourceFile] = {}
        self._unread: dict[tuple[str, bool], int] = {}  # how many more files may have a text
        self.files_naming = cache(self._files_naming)

    def first_used(self, text: str) -> tuple[Names, Occurrences]:
        """Return the first meaning of a text that has lines, or the last one, and its lines."""
        for names in self.meanings(text):
            found = self.usages_of(names)
            if any(found):
                break
        return names, found

    def meanings(self, text: str) -> Iterator[Names]:
        """Yield what a text may mean, first what is most probable.

        A name that is only defined in another case or spelling first means the text itself, such as a module.
        """
        bare = text.lstrip(_SIGILS)
        bare, sigil = (bare, text[: len(text) - len(bare)]) if parse_asked(bare).names else (text, "")
        place = parse_asked(bare)
        *qualifiers, last = place.names or (bare,)
        owner = qualifiers[-1] if qualifiers else ""
        try:
            spots = find_spots(
                self._indexes, bare, self._here, self._folders, only_definitions=True, members=True
            )
            within = " ".join(f"{spot.path} {spot.row.qualified_name}" for spot in spots if spot.row)
            is_name = owner and not (place.first or place.inside)
            if is_name and owner not in re.findall(r"\w+", within):  # A folder has this name.
                if any(ref.row.kind in TYPE_KINDS for ref in self.definitions(owner)):
                    raise IndexNotFoundError(f"{owner} does not define {last}")
        except (ConfigError, IndexNotFoundError) as error:
            if place.first or (place.inside and language_of_path(place.path)):
                raise
            if isinstance(error, ConfigError) or language_of_path(bare) or " " in bare:
                yield Names(bare, [], [])
            name = last.rstrip(_MARKS) or last
            refs = self.definitions(name)
            yield Names(name, refs, refs, owner, sigil, self.types)
            return
        places = {(spot.root, spot.path, spot.row.start_byte) for spot in spots if spot.row}
        name = composed(spots[0].row.name) if spots[0].row else ""
        name = name.rstrip("=") or name
        refs = self.definitions(name)
        is_plain = bare in (name, f"{name}=")
        targets = [
            ref for ref in refs if is_plain or (ref.root, ref.path, ref.row.start_byte) in places
        ] or refs
        owners = {ref.owner for ref in targets}
        targets += [
            ref for ref in refs if ref.row.name != name and ref.owner in owners and ref not in targets
        ]
        if not place.first and name not in (*place.inside[-1:], last.rstrip("="), bare):
            yield Names(last, [], [], owner, sigil)
        yield Names(name, refs, targets, sigil=sigil, types=self.types)

    def definitions(self, name: str) -> list[Ref]:
        """Return the definitions of a name, also as they are in open files."""
        variants = [name, *(f"{name}{mark}" for mark in _MARKS if name.isidentifier())]
        if (apart := unicodedata.normalize("NFD", name)) != name:
            variants.append(apart)
        refs = list(chain.from_iterable(map(partial(self._buffers.named, self._snapshot), variants)))
        # `const api = require("./api")` and `export { default as api }` define nothing. A field of Go that has only
        # a type is a usage of the type.
        refs = [ref for ref in refs if not (_IMPORTED.search(ref.row.signature) or _is_embedded(ref))] or refs
        refs = [ref if ref.row.signature.isascii() else _composed(ref) for ref in refs]
        return sorted((ref for ref in refs if self._allowed[ref.root](ref.path)), key=place_in_order)

    def near(self, name: str, *, has_lines: bool) -> tuple[str, ...]:
        """Return the other spellings of a name without a definition; if no line has it, the nearest names."""
        if has_lines:
            return tuple(sorted({exact for _, exact, _ in self._snapshot.named(name)} - {name}))
        return tuple(near_names(self._snapshot, name))

    def usages_of(self, names: Names) -> Occurrences:
        """Return the usages of a name, and of what other files call its definitions, in order."""
        if not terms_of(names.name):
            raise ConfigError(f"{names.name!r} has no letters or digits", "the index finds words")
        files, unread = self.files_naming(names.name, False), self._unread[names.name, False]
        exports, local = exports_of(names.targets, self.files_naming)
        names.add_exports((export.path, export.ref) for export in exports if export.name == names.name)
        of_files: dict[SourceFile, dict[int, Occurrence | None]] = {}
        for file in sorted(files, key=lambda file: (file.root, file.path) not in names.target_files):
            of_files[file], is_cut = _in_file(file, names)
            unread += is_cut
        for file, alias, ref in chain(local, self._attributes(names)):
            usage = Occurrence(_is_other(file), CERTAIN, file, 0, 0, [ref])
            _add_other_name(file, alias, usage, of_files.setdefault(file, {}))
        for name in {export.name: None for export in exports if export.name not in (names.name, DEFAULT)}:
            for usage in self._exported(name, [export for export in exports if export.name == name]):
                lines = of_files.setdefault(usage.file, {})
                other = lines.get(usage.line)
                lines[usage.line] = other if other and other.grade <= usage.grade else usage
        every = [usage for of_line in of_files.values() for usage in of_line.values()]
        usages = [usage for usage in every if usage]
        distances = {file: names.distance(file) for file in of_files}
        usages.sort(key=lambda usage: (*usage[:2], *distances[usage.file], usage.position))
        return Occurrences(usages, unread, len(every) - len(usages))

    def _exported(self, name: str, exports: Sequence[Export]) -> Iterator[Occurrence]:
        """Yield the lines that certainly use what some files export by a name."""
        refs = {export.ref.doc_id: export.ref for export in exports}
        standing = [
            replace(ref, file=ref.file._replace(path=path), row=ref.row._replace(name=name, start_line=0))
            for _, path, ref in exports
        ]
        paths = {(ref.root, ref.path) for ref in standing}
        others = [ref for ref in self.definitions(name) if (ref.root, ref.path) not in paths]
        names = Names(name, [*others, *standing], standing, types=self.types)
        for file in self.files_naming(name, False):
            for usage in filter(None, _in_file(file, names)[0].values()):
                if usage.grade == CERTAIN:
                    bases = [refs[ref.doc_id] for ref in usage.may_be if ref.doc_id in refs]
                    yield usage._replace(may_be=list(dict.fromkeys(bases)))

    def _attributes(self, names: Names) -> Iterator[tuple[SourceFile, str, Ref]]:
        """Yield the files with the short name of an attribute of C#."""
        for ref in names.targets:
            suffix = record_of(ref.file.language).attribute
            if suffix and ref.row.name.endswith(suffix) and (short := ref.row.name.removesuffix(suffix)):
                files = self.files_naming(short, False)
                yield from ((file, short, ref) for file in files if file.language == ref.file.language)

    def _files_naming(self, text: str, barrels: bool) -> list[SourceFile]:
        """Return the files that have a text as a whole word, or the `barrels` among them."""
        spelled = {unicodedata.normalize(form, text) for form in ("NFC", "NFD")}
        files = {
            proposed: None
            for each in sorted(spelled)
            for proposed in proposed_files(self._snapshot, each, self._filters)
            if not self._buffers.has(proposed) and (not barrels or is_barrel(proposed.file.path))
        }
        encoded = [each.encode() for each in spelled]
        read, unread = read_with(lambda source: any(each in source for each in encoded), list(files))
        sources = [self._sources.setdefault(of_file[0], SourceFile(*of_file)) for of_file in read]
        for buffer in self._buffers.changed.values():
            is_able = self._allowed[buffer.root](buffer.path) and (not barrels or is_barrel(buffer.path))
            if is_able and next(occurrences(buffer.source, text), -1) >= 0:
                sources.append(buffer)
        self._unread[text, barrels] = unread
        return sources

    def named_after(self, names: Names, usages: Collection[Occurrence]) -> list[Occurrence]:
        """Return the first test in each file of tests whose name has the words of a name; those with few others first.

        Files with usages are left out.
        """
        without = {usage.file.proposed for usage in usages}
        name_words, other_words = terms_of(names.name), dict[Proposed, int]()
        for proposed in proposed_files(self._snapshot, "", self._filters):
            path = proposed.file.path
            words = terms_of(path.rpartition("/")[2].partition(".")[0])
            if name_words <= words and proposed not in without and (is_test(path) or is_beside(path)):
                other_words[proposed] = len(words - name_words)
        named: list[Occurrence] = []
        for read in read_with(lambda _: True, sorted(other_words, key=other_words.__getitem__))[0]:
            file = SourceFile(*read)
            line = next((row.start_line for row in file.rows if row.flags & TEST and row.kind != "module"), 1)
            named.append(Occurrence(True, IN_FILE_NAME, file, file.line_starts[line - 1], line, ()))
        return named

    def derived(
        self, names: Names, bases: dict[_Line, Defined], *, all_code: bool
    ) -> tuple[list[Defined], int]:
        """Return what derives from a name, also by an abstract type, and how many in other code are left out.

        `bases` are the definitions whose headers name it.
        """
        known = set(bases.values())
        implementations = defined(implementing(self._snapshot, names.targets))
        implemented = [definition for definition in implementations if definition not in known]
        every = [*bases.values(), *implemented] or self._overriding(names)
        plain = [definition for (file, _), definition in bases.items() if all_code or not _is_other(file)]
        derived = [*plain, *implemented] or every
        below = self._below(
            [definition.name for definition in derived if _is_abstract(definition)], _is_abstract
        )
        shown = {definition.name for definition in derived}
        further = [definition for name, definition in below.items() if name not in shown]
        return [*derived, *further], len(every) - len(derived)

    def _overriding(self, names: Names) -> list[Defined]:
        """Return the methods of derived types that have the name of the methods that are asked for."""
        if not names.only_targets or not all(ref.row.kind == "method" for ref in names.targets):
            return []
        owners = [ref.owner for ref in names.targets if ref.owner]
        derived = self._below(owners, lambda definition: True)
        languages = {family_of(ref.file.language) for ref in names.targets}
        refs = [ref for ref in names.refs if ref.owner in derived and ref not in names.targets]
        return [*defined([ref for ref in refs if family_of(ref.file.language) in languages])]

    def _below(self, bases: list[str], has_derived: Callable[[Defined], bool]) -> dict[str, Defined]:
        """Return the types that derive from some, and from those among them that may have derived types, by name."""
        below: dict[str, Defined] = {}
        while bases and len(below) < _MOST_DERIVED:
            base = next(self.meanings(bases.pop()))
            of_headers = derived_by(self.usages_of(base).usages, base)
            types = (*of_headers.values(), *defined(implementing(self._snapshot, base.targets)))
            found = {definition.name: definition for definition in types if definition.name not in below}
            below |= found
            bases += sorted(name for name, definition in found.items() if has_derived(definition))
        return below


def _in_file(file: SourceFile, names: Names) -> tuple[dict[int, Occurrence | None], bool]:
    """Return each line with the name, and whether there may be more lines.

    A line has the best usage that can mean a definition that is asked for, or None.
    """
    own = own_names(file, names)
    is_other = _is_other(file)
    line, seen, size = 1, 0, len(names.name)
    of_line: dict[int, Occurrence | None] = {}
    positions = occurrences(file.source, names.name)
    for position in islice(positions, _MOST_IN_FILE):
        line, seen = line + file.source.count("\n", seen, position), position
        if own and own[0][0] <= line <= own[0][0] + _MOST_HEAD:
            _, ref = own.pop(0)
            # As in C#, `void IShape.Draw()` can define a member and name another one.
            if qualifier(file.source, position) not in names.owners - {ref.owner, ""}:
                of_line |= {} if ref in names.targets else {line: of_line.get(line)}
                continue
        best = of_line.setdefault(line, None)
        if not is_whole(file.source, position, size, file.language, names.sigil):
            continue
        grade, may_be = graded(file, names, position, line)
        is_meant = not names.only_targets or any(ref.doc_id in names.target_ids for ref in may_be)
        if not is_meant and grade in (CERTAIN, LIKELY):
            is_meant, grade = any(ref.doc_id in names.kin_ids for ref in may_be), LIKELY
        if is_meant and (best is None or grade < best.grade):
            of_line[line] = Occurrence(is_other, grade, file, position, line, may_be)
    for usage in list(filter(None, of_line.values())):
        if alias := file.alias_at(usage.position, names.name):
            _add_other_name(file, alias, usage, of_line)
    return of_line, next(positions, None) is not None


def _is_other(file: SourceFile) -> bool:
    """Say whether a file has tests or examples, is a migration, or is generated, vendored or built."""
    is_other = file.rows[0].flags & OF_FILE > 0 if file.rows else is_test(file.path)
    return is_other or is_beside(file.path)


def _add_other_name(
    file: SourceFile, name: str, usage: Occurrence, of_line: dict[int, Occurrence | None]
) -> None:
    """Add the lines with another name of what a usage means; in C#, the short name of an attribute is in `[...]`."""
    attribute = record_of(file.language).attribute
    is_attribute = any(ref.row.name == f"{name}{attribute}" for ref in usage.may_be) and attribute
    for position in islice(occurrences(file.source, name), _MOST_IN_FILE):
        line = file.source.count("\n", 0, position) + 1
        if (
            of_line.get(line) is None
            and (is_attribute or file.import_around(position) is None or not usage.line)
            and (
                _in_brackets(file.source, position)
                if is_attribute
                else qualifier(file.source, position) is None
            )
            and is_whole(file.source, position, len(name), file.language)
            and not in_comment(file.source, position, file.language, file.comments)
        ):
            of_line[line] = usage._replace(position=position, line=line)


def _in_brackets(source: str, position: int) -> bool:
    """Say whether a name begins an attribute of C#, such as `[Audit]`, `[A(1), Audit]` or `[assembly: Shop.Audit]`."""
    start = source.rfind("\n", 0, position) + 1
    return _ATTRIBUTE.fullmatch(source, start, position) is not None


def _telling(usages: Sequence[Occurrence], names: Names, bases: Collection[_Line]) -> list[Occurrence]:
    """Return the usages without other code, doubtful ones, bases of derived types, and imports if there are others.

    If all usages are in other code, it is not left out; of a name without a definition, nothing is doubtful.
    """
    sure = [usage for usage in usages if usage.grade < SEVERAL]
    sure = sure if sure or names.targets else list(usages)
    source = [usage for usage in sure if not usage.is_other] or sure
    source = [usage for usage in source if (usage.file, usage.line) not in bases]
    used = {file for file, _ in bases} | {usage.file for usage in source if not usage.is_import}
    return [usage for usage in source if not (usage.file in used and usage.is_import)]


def first_in_tests(usages: Sequence[Occurrence], names: Names) -> list[Occurrence]:
    """Return the first usage in each test, by grade; tests with the words of the name in their own or path first."""
    first: dict[tuple[SourceFile, DocumentRow], Occurrence] = {}
    for usage in usages:
        inside = usage.file.innermost(usage.line)
        if inside and inside.flags & TEST:
            first.setdefault((usage.file, inside), usage)
    words = terms_of(names.name)

    def rank(test: tuple[SourceFile, DocumentRow]) -> tuple[int, bool]:
        file, row = test
        return first[test].grade, not words <= terms_of(f"{file.path} {row.qualified_name}")

    return [first[test] for test in sorted(first, key=rank)]


def derived_by(usages: Sequence[Occurrence], names: Names) -> dict[_Line, Defined]:
    """Return the definitions that have a name as a base or embed it, by its line, if the name may be a type."""
    derived: dict[_Line, Defined] = {}
    if not any(ref.row.kind in TYPE_KINDS for ref in names.targets) and (
        names.targets or not names.name[:1].isupper()
    ):
        return derived
    seen = set[tuple[SourceFile, DocumentRow]]()
    for usage in usages:
        file, inside = usage.file, usage.file.innermost(usage.line)
        if usage.grade == IN_COMMENTS:
            continue
        if file.language == "rust" and (impl := impl_of(file.source, usage.position, names.name)):
            line, header, name = impl
            about = (file.path, "rust", "type", name, name, header, "", line, line, line)
            derived[file, line] = Defined(*about, root=file.root)
        if inside is None or inside.kind not in HEADER_KINDS or (file, inside) in seen:
            continue
        if is_base(names.name, inside, file.language) or embeds(file, usage.position, names.name):
            seen.add((file, inside))
            derived[file, usage.line] = Defined(*inside.shown(file.proposed.file), root=file.root)
    return derived


def _is_embedded(ref: Ref) -> bool:
    return bool(ref.owner) and ref.path.endswith(".go") and _EMBEDDED.fullmatch(ref.row.signature) is not None


def _is_abstract(definition: Defined) -> bool:
    """Say whether others implement a type."""
    return definition.kind in ("interface", "trait") or "abstract" in definition.signature.split()


def defined(refs: Sequence[Ref]) -> tuple[Defined, ...]:
    """Return what an answer shows of definitions."""
    return tuple(Defined(*ref.row.shown(ref.file), root=ref.root) for ref in refs)


def own_names(file: SourceFile, names: Names) -> list[tuple[int, Ref]]:
    """Return the line of each signature of each definition in a file, behind attributes."""
    own = [ref for ref in names.by_file.get((file.root, file.path), ()) if has_name(ref)]
    lines = file.source.split("\n") if own else []
    overload = re.compile(rf"\s*(?:\w+\s+)*{re.escape(names.name)}\s*[(<]")
    found: list[tuple[int, Ref]] = []
    for ref in own:
        first = ref.row.start_line
        head = lines[first - 1 : min(first + _MOST_HEAD, ref.row.last_line)]
        own_head = head_of(head, ref.row.signature)
        found += [(first + row, ref) for row in range(own_head.start) if overload.match(head[row])]
        # In C, the name is often in the line below the type of the result.
        named = (row for row in own_head if next(occurrences(head[row], names.name), -1) >= 0)
        found.append((first + next(named, own_head.start), ref))
    return found


def _composed(ref: Ref) -> Ref:
    row = ref.row
    name, qualified, signature = map(composed, (row.name, row.qualified_name, row.signature))
    return replace(ref, row=row._replace(name=name, qualified_name=qualified, signature=signature))


def _hydrated(usage: Occurrence) -> Usage:
    may_be = tuple(ref.place for ref in usage.may_be[:MOST_DEFINITIONS])
    at = usage_at(usage.file, usage.position, usage.line, is_other=usage.is_other)
    return replace(at, grade=GRADES[usage.grade], may_be=may_be)


def usage_at(file: SourceFile, position: int, line: int, *, is_other: bool = False) -> Usage:
    """Return a position with its line and the definition around it."""
    source = file.source
    start, end = source.rfind("\n", 0, position) + 1, source.find("\n", position)
    end = end if end >= 0 else len(source)
    first = max(start, position - _TEXT_BEFORE)
    mark = "…" if source[start:first].strip() else ""
    text = mark + source[first : min(end, position + _TEXT_AFTER)].strip().lstrip("\ufeff")
    row = file.innermost(line)
    inside = row and row.of(file.proposed.file)
    column = position - start + 1
    return Usage(file.root, file.path, line, column, text, "", (), inside, file.stale, is_other)
