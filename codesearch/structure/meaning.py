"""A name in a source -> the definitions that it can mean, and how sure that is.

`graded` reads what is around the name as text: the word before it, the definition around it, and the import
statements of its file.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from codesearch.parsing.languages import separator_of
from codesearch.search.literals import Proposed
from codesearch.store.reader import IndexReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.structure.imports import Statement, by_module, module_parts, statements
from codesearch.structure.words import qualifier
from codesearch.types import KINDS, NESTED, OF_FILE

GRADES = ("certain", "likely", "one of several", "no definition", "in comments")
NO_DEFINITION, IN_COMMENTS = 3, 4
_SELF = {
    **dict.fromkeys(
        "python cython ruby crystal swift objc lua rust perl zig".split(), ("self", "Self", "cls")
    ),
    "php": ("this", "self", "static"),
}
"""Language -> what means the instance or class around; by default only `this`."""
_NEEDS_SELF = frozenset("python javascript typescript tsx vue svelte go rust php lua perl zig".split())
"""Languages in which a member is never used without a qualifier."""
_FAMILIES = (
    ("javascript", "typescript", "tsx", "vue", "svelte", "html", "coffeescript"),
    ("c", "cpp", "objc"),
    ("java", "kotlin", "scala", "groovy"),
    ("ocaml", "ocamli"),
)
_FAMILY = {language: family[0] for family in _FAMILIES for language in family}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A definition of the name that is asked for.

    Attributes:
        number: its doc_id.
        qualified: its qualified name.
        is_nested: it is in a function.
        is_other: it is in a test, generated or vendored file.
    """

    number: int
    root: str
    path: str
    language: str
    name: str
    qualified: str
    line: int
    signature: str
    is_method: bool
    is_nested: bool
    is_other: bool

    @property
    def place(self) -> str:
        """Its "path:line"."""
        return f"{self.path}:{self.line}"

    @property
    def around(self) -> str:
        """What is before the name in the qualified name, with the separator."""
        return self.qualified[: len(self.qualified) - len(self.name)]

    @cached_property
    def owner(self) -> str:
        """The last name around it, or ""."""
        separator = separator_of(self.language)
        return self.around.removesuffix(separator).rpartition(separator)[2]

    @cached_property
    def modules(self) -> tuple[tuple[str, ...], ...]:
        """The parts of its file and of its folder."""
        parts = module_parts(f"{self.root.strip('/')}/{self.path}")
        return parts, parts[:-1]


class Names:
    """The definitions of a name.

    Attributes:
        name: in the bytes of the sources.
        targets: those that are asked for.
    """

    def __init__(self, name: str, everything: Sequence[Candidate], targets: Sequence[Candidate]) -> None:
        self.name, self.text = name.encode("utf-8", "surrogatepass"), name
        self.targets = {one.number for one in targets}
        self.only_targets = len(targets) < len(everything)
        self._all = everything
        self._by_family: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
        self._by_file: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
        for one in everything:
            family = _FAMILY.get(one.language, one.language)
            self._by_family[one.root, family].append(one)
            self._by_family["", family].append(one)
            self._by_file[one.root, one.path].append(one)
        self.modules = by_module(everything)
        self.has_only_methods = all(one.is_method for one in everything)
        self.owners = {one.owner for one in everything}

    def in_file(self, root: str, path: str) -> Sequence[Candidate]:
        """Return the definitions in a file, in the order of lines."""
        return self._by_file.get((root, path), ())

    def possible(self, file: SourceFile) -> Sequence[Candidate]:
        """Return what the name can mean in a file: its definitions in related languages and the same root, else all."""
        family = _FAMILY.get(file.language, file.language)
        by_family = self._by_family
        return by_family.get((file.root, family)) or by_family.get(("", family)) or self._all


class SourceFile:
    """A file that is looked through."""

    def __init__(self, proposed: Proposed, source: bytes, stale: bool) -> None:
        self.proposed, self.source, self.stale = proposed, source, stale
        self.root, self.path = proposed.segment.root, proposed.file.path
        self.language = proposed.file.language
        self.meant: dict[str | int | None, list[Candidate]] = {}

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


def candidates(indexes: Sequence[IndexReader], name: str) -> list[Candidate]:
    """Return the live definitions with exactly this name.

    Sections, settings and modules only count if there is no other. A constructor with the name of its class does not.
    """
    found: list[tuple[bool, Candidate]] = []
    snapshot = Snapshot(indexes)
    inner = inner_folders(snapshot.roots)
    for base, segment in snapshot.based_segments():
        named = segment.store.places_named(name)
        files = segment.store.files_of({int(segment.rows.files[number]) for number, *_ in named})
        for number, qualified, line, signature in named:
            file_id = int(segment.rows.files[number])
            path, kind = files[file_id].path, KINDS[segment.rows.kinds[number]]
            if file_id in segment.dead_files or path.startswith(inner[segment.root]):
                continue
            one = Candidate(
                base + number,
                segment.root,
                path,
                files[file_id].language,
                name,
                qualified,
                line,
                signature,
                is_method=kind == "method",
                is_nested=bool(segment.rows.flags[number] & NESTED),
                is_other=bool(segment.rows.flags[number] & OF_FILE),
            )
            found.append((kind in ("section", "setting", "module"), one))
    least = min((is_text for is_text, _ in found), default=False)
    types = {(one.root, one.path) for _, one in found if not one.is_method}
    chosen = [
        one
        for is_text, one in found
        if is_text == least and not (one.owner == name and one.is_method and (one.root, one.path) in types)
    ]
    return sorted(chosen, key=lambda one: (one.is_other, one.path, one.root, one.line))


def graded(file: SourceFile, names: Names, place: int, line: int) -> tuple[int, Sequence[Candidate]]:
    """Return the grade of an occurrence, as a position in `GRADES`, and what it can mean."""
    if not names.modules:
        return NO_DEFINITION, ()
    own = names.in_file(file.root, file.path)
    before = qualifier(file.source, place)
    meant = [one for one in own if _reaches(one, file, line, before)]
    if not meant:
        meant = _imported(file, names, place, before)
    if len(meant) == 1:
        return 0, meant
    possible = meant or _possible(file, names, before)
    return (1 if len(possible) == 1 else 2 if possible else NO_DEFINITION), possible


def _possible(file: SourceFile, names: Names, before: str | None) -> Sequence[Candidate]:
    """Return the definitions that the word before an occurrence allows."""
    possible = names.possible(file)
    if not before:
        return possible
    if file.language == "go" and any(one.is_standard_go and before in one.words for one in file.imports):
        return [one for one in possible if one.is_method]
    return [one for one in possible if one.owner == before] or possible


def _reaches(one: Candidate, file: SourceFile, line: int, before: str | None) -> bool:
    """Say whether an occurrence in the file of a definition means this definition."""
    if before is not None and before == one.owner:
        return True
    is_plain = before is None or before in _SELF.get(file.language, ("this",))
    if not one.is_method and not one.is_nested:
        return is_plain
    if not is_plain or (before is None and one.is_method and file.language in _NEEDS_SELF):
        return False
    inside = file.innermost(line)
    if inside is None:
        return False
    return f"{file.spans[inside][2]}{separator_of(one.language)}".startswith(one.around)


def _imported(file: SourceFile, names: Names, place: int, before: str | None) -> list[Candidate]:
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
    imports: Sequence[Statement], names: Names, before: str | None, possible: Sequence[Candidate]
) -> list[Candidate]:
    """Return the definitions that agree best with the statements that name them or the word before the name."""
    best, found, allowed = 1, list[Candidate](), set(possible)
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
