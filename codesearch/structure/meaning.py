"""A name in a source -> the definitions that it can mean, and how sure that is.

`graded` reads what is around the name as text. A definition is meant certainly if it is in the same file, or in the
same class for members, if the file imports the name from its file, or if they are in the same package and the language
needs no import then. It is likely meant if the declared type of what stands before the name has it, or if there is no
other one in related languages. Anything else is possible.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import cast

from codesearch.languages import family_of, record_of
from codesearch.languages.records import DOCSTRINGS
from codesearch.parsing.identifiers import module_name
from codesearch.search.exact import Proposed
from codesearch.search.lookup import innermost
from codesearch.store.database import DocumentRow
from codesearch.store.source import Ref, SourceFiles, read_source
from codesearch.structure.imports import (
    DEFAULT,
    Modules,
    Statement,
    by_module,
    composed,
    import_statements,
    module_of,
    normal,
)
from codesearch.structure.places import bodies_of
from codesearch.structure.receivers import Types, literal_type
from codesearch.types import FUNCTIONS, MEMBER_KINDS, NESTED, PROTOTYPE, TYPE_KINDS

_BEST = ("declared here", "certain", "likely", "no definition", "as a string")
GRADES = (*_BEST, "possible", "in comments and strings", "only in the file's name")
DECLARED, CERTAIN, LIKELY, NO_DEFINITION, AS_STRING, SEVERAL, IN_COMMENTS, IN_FILE_NAME = range(len(GRADES))
_BEFORE_DOCSTRING = re.compile(r"[ \t]*(?:@\w+ +)?(?:~[sS]|[rRuU])?")
_CONTINUED = frozenset("([{,=+%\\")  # What ends a line if the next one continues its expression
_QUALIFIER = re.compile(r"(?:^|[^.])(?:\.|\?\.|&\.|!!\.|->|::|\\)\Z")
_LAST_WORD = re.compile(r"\w+\Z")
_MOST_QUALIFIER = 80
_MOST_LINE = 1_000  # Characters of a line that are looked through for the mark of a comment
_CODE_IN_STRING = re.compile(r"(?:[$#]|\A[fF$][\"'].*)\{[^{}]*\Z|[$\\]\([^()]*\Z|[$@][\w.>-]*\Z", re.DOTALL)
"""What opens code in a string, such as `${`."""


_PACKAGE = re.compile(r"^[ \t]*(?:package|namespace)[ \t]+([\w.\\]+)", re.MULTILINE)
_MOST_PACKAGED, _MOST_OWNERS = 50, 20
_MOST_HEADER = 4_000
_BEFORE_KEY = re.compile(r"(?:^|[{(,])\s*\Z")
_DESIGNATED = re.compile(r"(?:^|[{(,])\s*\.\Z")
_TAG, _MOST_TAG = re.compile(r"\b(?:struct|union|enum)\s+\Z"), 30
_CALLED = re.compile(r"\w+\s*\(")
_INNER = re.compile(r"<[^<>]*>|\[[^][]*\]")
_IMPL = re.compile(r"^[ \t]*(?:unsafe\s+)?impl\b", re.MULTILINE)
_IMPL_FOR = re.compile(r"(?:unsafe )?impl (?:\w+::)*(?P<base>\w+) for \W*(?:\w+::)*(?P<name>\w+)")
_BRACKETS = re.compile(rf"{_INNER.pattern}|\([^()]*\)")


class Names:
    """The definitions of a name; `targets` are those that are asked for, in `target_files`.

    `owner` is what stands before the name in a question if there it has no definition.
    """

    def __init__(
        self,
        name: str,
        refs: Sequence[Ref],
        targets: Sequence[Ref],
        owner: str = "",
        sigil: str = "",
        types: Types | None = None,
    ) -> None:
        self.name = name
        self.types = types or Types(lambda _: ())
        self.is_default, self._possible = cache(self._is_default), cache(self._possible_in)
        self.imported: dict[tuple[SourceFile, str | int | None], list[Ref]] = {}
        every, declared = refs, {ref.doc_id: bodies for ref in refs if (bodies := bodies_of(ref, refs))}
        if declared:
            refs = [ref for ref in refs if ref.doc_id not in declared]
            targets = list(dict.fromkeys(of for ref in targets for of in declared.get(ref.doc_id, [ref])))
        self.targets, self.owner, self.sigil = targets, owner, sigil
        self.has_variants = any(ref.row.name != name for ref in refs)
        self.target_ids = {ref.doc_id for ref in targets}
        self.target_ids |= {doc_id for doc_id, bodies in declared.items() if {*bodies} & {*targets}}
        self.target_files = {(ref.root, ref.path) for ref in targets}
        self.only_targets = len(targets) < len(refs)
        self.refs = refs
        self.by_file: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        self.by_qualifier: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        for ref in refs:
            if _is_method(ref) and record_of(ref.file.language).has_open_classes:
                self.by_qualifier[ref.root, ref.qualifier].append(ref)
        for ref in every:
            self.by_file[ref.root, ref.path].append(ref)
        self._places = [(f"{ref.root.strip('/')}/{ref.path}", ref) for ref in refs]
        self.has_only_methods = all(map(_is_method, refs))
        self.owners = {ref.owner for ref in refs}

    @cached_property
    def modules(self) -> Modules[Ref]:
        """Definitions by the modules that export them."""
        return by_module(self._places)

    def add_exports(self, exports: Iterable[tuple[str, Ref]]) -> None:
        """Add the paths of other files that export a definition."""
        self._places += [(f"{ref.root.strip('/')}/{path}", ref) for path, ref in exports]

    @cached_property
    def by_package(self) -> Mapping[tuple[str, str], Sequence[Ref]]:
        """Definitions outside of classes by (root, package), if they are few."""
        able = [ref for ref in self.refs if not _is_method(ref) and not ref.row.flags & NESTED]
        packages: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        for ref in able if len(able) <= _MOST_PACKAGED else ():
            package = package_of(_file_text(ref), ref.path, ref.file.language)
            if package:
                packages[ref.root, package].append(ref)
        return packages

    def are_one(self, refs: Sequence[Ref]) -> bool:
        """Say whether there is one definition, several of one thing, or those of one family of methods.

        Overloads, a getter and its setter, and a type and a value with one name are one thing.
        """
        owners = {ref.owner for ref in refs}
        if _is_one(refs):
            return True
        if not refs or not all(owners) or len(owners) > _MOST_OWNERS:
            return False
        return any(all(base in self.types.ancestors(owner) for owner in owners) for base in owners)

    def is_outside(self, file: SourceFile, word: str) -> bool:
        """Say whether a file imports a word only from outside of the project."""
        statements = [statement for statement in file.imports if word and word in statement.words]
        return bool(statements) and all(
            statement.is_outside(self._folders | file.folders) for statement in statements
        )

    def _is_default(self, ref: Ref) -> bool:
        """Say whether a file of JavaScript has a definition in what it exports as the default."""
        name = rf"(?<![\w$]){re.escape(self.name)}(?![\w$])"
        pattern = rf"(?:export\s+default|module\.exports\s*=)(?!\s*\{{)[^\n;]*{name}"
        return re.search(pattern, _file_text(ref)) is not None

    @cached_property
    def _folders(self) -> frozenset[str]:
        packaged = (ref for ref in self.refs if record_of(ref.file.language).is_packaged)
        qualifiers = " ".join({ref.qualifier for ref in packaged})
        paths = (part for ref in self.refs for part in module_of(ref.path))
        return frozenset((*paths, *normal(re.findall(r"\w+", qualifiers))))

    def distance(self, file: SourceFile) -> tuple[int, str, str]:
        """Return what files are sorted by: those with most folders in common with a definition come first."""
        shared = (
            len(posixpath.commonprefix([file.path.split("/"), path.split("/")]))
            for root, path in self.target_files
            if root == file.root
        )
        return -max(shared, default=0), file.path, file.root

    @cached_property
    def kin_ids(self) -> frozenset[int]:
        """Members of scripts that override one that is asked for, or the same one as it does, or that it overrides."""
        ancestors = self.types.ancestors
        members = [ref for ref in self.refs if _is_method(ref) and record_of(ref.file.language).is_script]
        targets = (ref for ref in members if ref.doc_id in self.target_ids)
        above = {owner for ref in targets for owner in self.owners & ancestors(ref.owner)}
        return frozenset(ref.doc_id for ref in members if above & ancestors(ref.owner))

    def possible(self, file: SourceFile) -> Sequence[Ref]:
        """Return its definitions in related languages, if possible of the same root."""
        return self._possible(file.root, family_of(file.language))

    def _possible_in(self, root: str, family: str) -> list[Ref]:
        related = [ref for ref in self.refs if family_of(ref.file.language) == family]
        return [ref for ref in related if ref.root == root] or related


class SourceFile:
    """A file that is looked through."""

    def __init__(self, proposed: Proposed, source: bytes, stale: bool) -> None:
        self.proposed, self.stale = proposed, stale
        self.source = composed(source.decode("utf-8", "replace"))
        self.root, self.path = proposed.segment.root, proposed.file.path
        self.language = proposed.file.language
        self._binds = cache(self._binds_in)

    @cached_property
    def imports(self) -> list[Statement]:
        """Its import statements."""
        return import_statements(self.source, self.path, self.language)

    @cached_property
    def package(self) -> str:
        """Its package."""
        return package_of(self.source, self.path, self.language)

    @cached_property
    def comments(self) -> list[tuple[int, int]]:
        """(start, end) of its comments that can have several lines, and of documentation."""
        return block_comments(self.source, self.language)

    @cached_property
    def strings(self) -> list[tuple[int, int]]:
        """(start, end) of its strings."""
        found = re.finditer(record_of(self.language).strings, self.source)
        return [match.span() for match in found if self.source[match.end() - 1] in "\"'`"]

    def is_text(self, position: int) -> bool:
        """Say whether a position is in the text of a string, not in code such as `${name}`."""
        line = self.source[self.source.rfind("\n", 0, position) + 1 : position]
        is_open = (self.source.count(mark, 0, position) % 2 for mark in ('"""', "'''", "`"))
        if not any(quote in line for quote in "\"'`") and not any(is_open):
            return False  # Finding all strings takes longer.
        at = bisect_right(self.strings, (position, len(self.source))) - 1
        start, end = self.strings[at] if at >= 0 else (0, 0)
        return position < end and _CODE_IN_STRING.search(self.source[start:position]) is None

    def is_whole_string(self, position: int, size: int) -> bool:
        """Say whether a name is all that is between two quotes."""
        quotes = {self.source[position - 1 : position], self.source[position + size : position + size + 1]}
        return len(quotes) == 1 and quotes <= set("\"'`")

    @cached_property
    def rows(self) -> list[DocumentRow]:
        """Its definitions, outer ones first."""
        return self.proposed.segment.store.document_rows(self.proposed.file)

    def innermost(self, line: int) -> DocumentRow | None:
        """Return the innermost definition around a line."""
        at = innermost(self.rows, line)
        return None if at is None else self.rows[at]

    @cached_property
    def folders(self) -> frozenset[str]:
        """Its folders and its name, as imports have them."""
        return frozenset(module_of(self.path))

    def _around(self, line: int, kinds: Container[str]) -> list[DocumentRow]:
        """Return the definitions of some kinds around a line, outer ones first."""
        return [row for row in self.rows if row.kind in kinds and row.start_line <= line <= row.last_line]

    def binds(self, name: str, line: int) -> bool:
        """Say whether the function around a line has a parameter or a variable with a name."""
        functions = self._around(line, FUNCTIONS) if record_of(self.language).binds else ()
        return any(self._binds(name, row.start_line, row.last_line) for row in functions)

    def _binds_in(self, name: str, first: int, last: int) -> bool:
        pattern = record_of(self.language).binds.replace("NAME", re.escape(name))
        starts = (*self.line_starts, len(self.source))
        text = self.source[starts[first - 1] : starts[min(last, len(starts) - 1)]]
        return re.search(pattern, text, re.MULTILINE) is not None

    def type_around(self, line: int) -> str:
        """Return the name of the innermost type around a line, or ""."""
        if types := self._around(line, TYPE_KINDS):
            return types[-1].name
        inside, separator = self.innermost(line), record_of(self.language).separator
        return inside.qualified_name.rpartition(separator)[0].rpartition(separator)[2] if inside else ""

    def function_text(self, line: int, end: int) -> str:
        """Return the text of the outermost function around a line, up to a position."""
        functions = self._around(line, FUNCTIONS)
        return self.source[self.line_starts[functions[0].start_line - 1] : end] if functions else ""

    @cached_property
    def line_starts(self) -> list[int]:
        """Where its lines begin."""
        return [0, *(match.end() for match in re.finditer("\n", self.source))]

    def import_around(self, at: int) -> int | None:
        """Return the position of the import statement around a position in the source."""
        last = bisect_right(self.imports, at, key=lambda statement: statement.start) - 1
        return last if last >= 0 and at < self.imports[last].end else None

    def original(self, name: str) -> str:
        """Return the name of what an import calls a name, or the name itself."""
        pairs = (pair for statement in self.imports if name in statement.words for pair in statement.bindings)
        return next((of for of, local in pairs if local == name and of not in (DEFAULT, "*")), name)

    def alias_at(self, position: int, name: str) -> str:
        """Return the other name that an import gives to a name at a position; "" if there is none."""
        at = self.import_around(position)
        if at is None or self.imports[at].text.startswith("export"):
            return ""
        return next((local for of, local in self.imports[at].bindings if of == name != local), "")


def _file_text(ref: Ref) -> str:
    source, _ = read_source(cast(SourceFiles, ref.source).segment, ref.file) or (b"", False)
    return source.decode("utf-8", "replace")


def _is_method(ref: Ref) -> bool:
    return ref.row.kind == "method" or (ref.row.kind in MEMBER_KINDS and ref.owner != "")


def has_name(ref: Ref) -> bool:
    """Say whether a definition stands in its file with its name; an anonymous export has that of its file."""
    return ref.row.start_line > 0 and ref.row.name in ref.row.signature


def graded(file: SourceFile, names: Names, position: int, line: int) -> tuple[int, Sequence[Ref]]:
    """Return the grade of an occurrence, as a position in `GRADES`, and what it can mean."""
    grade, refs = _graded(file, names, position, line)
    if in_comment(file.source, position, file.language, file.comments):
        grade = IN_COMMENTS
    elif grade < SEVERAL and file.is_text(position):
        grade = AS_STRING if file.is_whole_string(position, len(names.name)) else IN_COMMENTS
    return grade, refs


def _graded(file: SourceFile, names: Names, position: int, line: int) -> tuple[int, Sequence[Ref]]:
    before = qualifier(file.source, position)
    if names.owner or not names.modules:
        if before is None or before in record_of(file.language).self_words:
            if file.import_around(position) is not None:
                return DECLARED, ()
        elif before == names.owner:
            return LIKELY, ()
        if not names.modules:
            return NO_DEFINITION, ()
    if refs := _of_literal(file, names, position, before):
        return (LIKELY if names.are_one(refs) else SEVERAL), refs
    possible = _fitting(file, names.possible(file), position, before)
    own = [ref for ref in names.by_file.get((file.root, file.path), ()) if ref in possible]
    refs = (
        _reached([ref for ref in own if has_name(ref)], file, line, before)
        or _imported(file, names, position, before)
        or _reached([ref for ref in own if ref.row.start_line and not has_name(ref)], file, line, before)
        or _of_package(file, names, line, before)
    )
    refs = [ref for ref in refs if ref in possible]
    grade = CERTAIN if refs else LIKELY
    refs = refs or [*(_bare if before is None else _joined)(file, names, position, line, possible)]
    if names.has_variants:
        mark = mark_of(file.source, position + len(names.name), file.language)
        refs = [ref for ref in refs if ref.row.name.removeprefix(names.name).rstrip("=") == mark]
    if names.are_one(refs) and not (grade == LIKELY and names.owner):
        return grade, refs
    return SEVERAL, refs or possible or names.refs


def _of_literal(file: SourceFile, names: Names, position: int, before: str | None) -> list[Ref]:
    """Return what the key of a literal can mean, such as `x` in `Point{x: 1}` or `struct point p = {.x = 1}`."""
    if before or not record_of(file.language).literal:
        return []
    if before is None:
        is_key = _is_key(file, position)
    else:
        is_key = _DESIGNATED.search(_line_before(file.source, position)) is not None
    members = [ref for ref in names.possible(file) if _is_method(ref)] if is_key else []
    of = literal_type(file.source, position, file.language) if members else ""
    return names.types.members_of(of, members, file.path) if of else []


def _bare(file: SourceFile, names: Names, position: int, line: int, possible: Sequence[Ref]) -> Sequence[Ref]:
    """Return what a name without a receiver can mean, if it is no import: members only in their class."""
    enclosing = file.type_around(line)
    if not record_of(file.language).needs_self and enclosing:
        methods = [ref for ref in possible if _is_method(ref)]
        if members := names.types.members_of(enclosing, methods, file.path):
            return members
    of_default = (statement.bindings for statement in file.imports if names.name in statement.words)
    is_bound = names.is_outside(file, names.name) or file.binds(names.name, line)
    is_bound = is_bound or any((DEFAULT, names.name) in bindings for bindings in of_default)
    return [ref for ref in possible if not _is_method(ref) and not is_bound]


def _joined(
    file: SourceFile, names: Names, position: int, line: int, possible: Sequence[Ref]
) -> Sequence[Ref]:
    """Return what a name behind a receiver can mean: the members of its type."""
    members = [ref for ref in possible if _is_method(ref)]
    before = qualifier(file.source, position)
    if before and before[0].isupper() and (static := [ref for ref in members if ref.owner == before]):
        return static
    if types := names.types.before(file, position, line):
        return [ref for of in types for ref in names.types.members_of(of, members, file.path)]
    is_outside = names.is_outside(file, before or "")
    return () if is_outside or (members and not _is_one(members)) else members or possible


def _is_one(refs: Sequence[Ref]) -> bool:
    return len({(ref.root, ref.path, ref.owner) for ref in refs}) == 1


def _fitting(file: SourceFile, possible: Sequence[Ref], position: int, before: str | None) -> Sequence[Ref]:
    """Return the definitions that what stands before a name allows.

    In C, a structure is named behind `struct`, and after a dot there are only members. In PHP, `$name` is a variable,
    and `$cart->total` is a property even if there is a method `total`.
    """
    if file.language == "c" and before is not None:
        return [ref for ref in possible if _is_method(ref)]
    if file.language == "c":
        is_tagged = _TAG.search(file.source, max(position - _MOST_TAG, 0), position) is not None
        return [ref for ref in possible if _has_tag(ref) == is_tagged or ref.row.kind == "type"]
    if file.language == "php" and before is not None:
        is_called = _CALLED.match(file.source, position) is not None
        return [ref for ref in possible if not _is_method(ref) or (ref.row.kind == "method") == is_called]
    is_variable = before is None and file.language == "php" and file.source[position - 1 : position] == "$"
    return [] if is_variable or (before is None and _is_key(file, position)) else possible


def _is_key(file: SourceFile, position: int) -> bool:
    """Say whether a name is the key of a literal, as in `{name: 1}`, or of an argument, as in `f(name=1)`."""
    mark = record_of(file.language).key_mark
    if not mark or _BEFORE_KEY.search(_line_before(file.source, position)) is None:
        return False
    after = file.source[position : position + _MOST_QUALIFIER]
    return re.match(rf"[\w$]+\s*{mark}(?![:=])", after) is not None


def _has_tag(ref: Ref) -> bool:
    """Say whether a definition of C is named with `struct`, `union` or `enum` before its name."""
    return ref.row.kind not in (*FUNCTIONS, PROTOTYPE) and ref.row.signature.startswith(
        ("struct", "union", "enum")
    )


def _reached(refs: Sequence[Ref], file: SourceFile, line: int, before: str | None) -> list[Ref]:
    """Return those of the definitions in a file that an occurrence in it can mean."""
    reached = [ref for ref in refs if _reaches(ref, file, line, before)]
    if before in record_of(file.language).self_words:  # It is no function of the file if there is a method.
        return [ref for ref in reached if _is_method(ref)] or reached
    return reached


def _reaches(ref: Ref, file: SourceFile, line: int, before: str | None) -> bool:
    """Say whether an occurrence in the file of a definition means this definition."""
    if before is not None and before == ref.owner:
        return True
    is_plain = before is None or before in record_of(file.language).self_words
    if not _is_method(ref) and not ref.row.flags & NESTED:
        return is_plain
    if not is_plain or (before is None and _is_method(ref) and record_of(file.language).needs_self):
        return False
    inside = file.innermost(line)
    if inside is None:
        return False
    return f"{inside.qualified_name}{record_of(ref.file.language).separator}".startswith(ref.qualifier)


def _of_package(file: SourceFile, names: Names, line: int, before: str | None) -> list[Ref]:
    """Return the definitions in other files that a language makes known without an import.

    Those are definitions of the same package, members of the same class, and in Rust those of the module before a name.
    """
    language = file.language
    if before is None and record_of(language).is_packaged and file.package:
        package = file.package
        while package:
            if refs := names.by_package.get((file.root, package)):
                return [ref for ref in refs if ref.file.language == language]
            package = package.rpartition(".")[0] if language == "csharp" else ""
    if language == "rust" and before:
        return [
            ref
            for module, ref in names.modules.get(normal([before])[0], ())
            if ref.root == file.root
            and not _is_method(ref)
            and module[-1:] == normal([module_name(ref.path)])
        ]
    is_plain = before in record_of(language).self_words or (
        before is None and not record_of(language).needs_self
    )
    if names.by_qualifier and record_of(language).has_open_classes and is_plain:
        inside, separator = file.innermost(line), record_of(language).separator
        outer = inside.qualified_name if inside else ""
        while outer:
            if refs := names.by_qualifier.get((file.root, f"{outer}{separator}")):
                same = [ref for ref in refs if ref.file.language == language]
                return same if language != "csharp" or file.package else []
            outer = outer.rpartition(separator)[0]
    return []


def package_of(source: str, path: str, language: str) -> str:
    """Return the package that a source says it is in; in Go, with the folder.

    >>> package_of("package a.b;", "A.java", "java"), package_of("package a", "src/a.go", "go")
    ('a.b', 'src/ a')
    """
    match = _PACKAGE.search(source) if record_of(language).is_packaged else None
    name = match[1] if match else ""
    return f"{posixpath.dirname(path)}/ {name}" if language == "go" and name else name


def is_base(name: str, row: DocumentRow, language: str) -> bool:
    """Say whether the header of a type names another type as a base, not as a parameter of a type."""
    bases, count = row.signature.partition(row.name)[2], 1
    while count:
        bases, count = (_INNER if record_of(language).has_bases_in_brackets else _BRACKETS).subn("", bases)
    bases = re.split(r"\bwhere\b", bases)[0]
    return re.search(rf"(?<![\w=]){re.escape(name)}(?!\w)", bases) is not None


def impl_of(source: str, position: int, name: str) -> tuple[int, str, str] | None:
    """Return the line, the header and the type of the `impl NAME for TYPE` of Rust that has a name at a position.

    >>> impl_of("impl<T> Draw<T> for shapes::Box<T> {}", 8, "Draw")
    (1, 'impl<T> Draw<T> for shapes::Box<T>', 'Box')
    """
    ends = max(source.rfind(mark, 0, position) for mark in (";", "{", "}"))
    if (begin := _IMPL.search(source, ends + 1, position)) is None:
        return None
    end = source.find("{", position, position + _MOST_HEADER)
    header = " ".join(source[begin.start() : end].split())
    bare, count = header.replace("->", ""), 1
    while count:
        bare, count = re.subn("<[^<>]*>", "", bare)
    match = _IMPL_FOR.match(bare)
    if match is None or match["base"] != name:
        return None
    return source.count("\n", 0, begin.start()) + 1, header, match["name"]


def _imported(file: SourceFile, names: Names, position: int, before: str | None) -> list[Ref]:
    """Return the definitions in other files that the import statements of a file name."""
    if before not in names.owners and names.has_only_methods:
        return []
    statement = file.import_around(position)
    key = before if statement is None else statement
    if (file, key) not in names.imported:
        chosen = file.imports if statement is None else [file.imports[statement]]
        possible = names.possible(file)
        names.imported[file, key] = _agreeing(chosen, names, before if statement is None else None, possible)
    return names.imported[file, key]


def _agreeing(
    imports: Sequence[Statement], names: Names, before: str | None, possible: Sequence[Ref]
) -> list[Ref]:
    """Return the definitions that agree best with the statements that name them or the word before the name."""
    best, refs, allowed = 1, list[Ref](), set(possible)
    word = names.name if before is None else before
    for statement in imports:
        is_named = word in statement.text and word in statement.words
        if not is_named and not statement.opens_all:
            continue
        is_default = (DEFAULT, word) in statement.bindings
        for score, ref in statement.agreeing(names.modules, names.name):
            if before is None:
                fits = not _is_method(ref) and (not is_default or names.is_default(ref))
            else:
                fits = before == ref.owner if _is_method(ref) or not is_named else True
            if fits and score >= best and ref in allowed:
                refs = [*(refs if score == best else ()), ref]
                best = score
    return list(dict.fromkeys(refs))


def occurrences(source: str, name: str) -> Iterator[int]:
    """Yield the position of each occurrence that is no part of a longer word.

    >>> list(occurrences("empty? if xempty or $empty", "empty"))
    [0, 21]
    """
    escaped = re.escape(name)
    after = r"(?!\w)" if re.match(r"\w", name[-1]) else ""
    # It stands at the end, because a search for a text that begins with its letters is fast.
    before = rf"(?<!\w{escaped})" if re.match(r"\w", name[0]) else ""
    return (match.start() for match in re.finditer(f"{escaped}{after}{before}", source))


def is_whole(source: str, position: int, size: int, language: str, sigil: str = "") -> bool:
    """Say whether a word is a whole identifier of the language, such as `price`, but not `$price` in JavaScript.

    The sigil `$` asks for `$price` there.
    """
    also = record_of(language).in_names
    before, after = source[max(position - 1, 0) : position], source[position + size : position + size + 1]
    if after == "'" and after in record_of(language).after_names:
        return False
    has_sigil = "$" in also and before == "$"
    is_asked = has_sigil == (sigil == "$") or "$" not in also
    return is_asked and not ((before and before in also and not has_sigil) or (after and after in also))


def mark_of(source: str, end: int, language: str) -> str:
    """Return the mark that ends a variant of a name, such as `?` in Ruby.

    >>> mark_of("empty? x", 5, "ruby"), mark_of("a!=", 1, "ruby"), mark_of("a?b:c", 1, "c")
    ('?', '', '')
    """
    mark, following = source[end : end + 1], source[end + 1 : end + 2]
    return mark if mark in ("?", "!") and mark in record_of(language).after_names and following != "=" else ""


def embeds(file: SourceFile, position: int, name: str) -> bool:
    """Say whether a line in a type of Go has only a name, so that the type has its methods."""
    if file.language != "go":
        return False
    start, end = file.source.rfind("\n", 0, position) + 1, file.source.find("\n", position)
    words = file.source[start : max(start, end)].partition("//")[0].split()
    return len(words) == 1 and words[0].lstrip("*").rpartition(".")[2] == name


def in_comment(source: str, position: int, language: str, blocks: Sequence[tuple[int, int]]) -> bool:
    """Say whether a position is in one of `blocks`, or behind what opens a comment in its line.

    >>> in_comment("// get", 3, "go", ()), in_comment("# get", 2, "ruby", ()), in_comment('"http://get"', 8, "go", ())
    (True, True, False)
    """
    if _opens_comment(_line_before(source, position), language):
        return True
    at = bisect_right(blocks, (position, len(source))) - 1
    return at >= 0 and position < blocks[at][1]


def _line_before(source: str, position: int) -> str:
    return source[max(source.rfind("\n", 0, position) + 1, position - _MOST_LINE) : position]


def _opens_comment(line: str, language: str) -> bool:
    return re.search(record_of(language).comments.line, line) is not None


def block_comments(source: str, language: str) -> list[tuple[int, int]]:
    """Return the start and end of each comment of several lines, and of each string that is only documentation.

    >>> block_comments("a /* b */ c // *.h /* d", "go"), block_comments("x = '/*' /* y", "c")
    ([(2, 9)], [(9, 13)])
    >>> block_comments("//** a", "cpp"), block_comments("/* a *//* b */", "cpp")
    ([], [(0, 7), (7, 14)])
    """
    closing = dict(record_of(language).comments.blocks)
    # Searching for each mark by itself is several times as fast as one pattern for all.
    ahead = {mark: source.find(mark) for mark in closing}
    found = list[tuple[int, int]]()
    while ahead := {mark: start for mark, start in ahead.items() if start >= 0}:
        start, mark = min((start, mark) for mark, start in ahead.items())
        end = start + len(mark)
        start += mark.startswith("\n")
        before = _line_before(source, start)
        # Otherwise the mark stands in another comment or in a string.
        after_slash = before[-1:] == "/" and [close for _, close in found[-1:]] != [start]
        is_in_line = _opens_comment(before, language) or (after_slash and mark == "/*")
        if not (is_in_line or any(before.count(quote) % 2 for quote in "\"'`")):
            close = source.find(closing[mark], end)
            end = len(source) if close < 0 else close + len(closing[mark])
            above = source[max(start - len(before) - _MOST_LINE, 0) : start - len(before)].rstrip()
            if (mark, mark) not in DOCSTRINGS or (
                _BEFORE_DOCSTRING.fullmatch(before) and above[-1:] not in _CONTINUED
            ):
                found.append((start, end))
        ahead |= {mark: source.find(mark, end) for mark, start in ahead.items() if start < end}
    return found


def qualifier(source: str, position: int) -> str | None:
    """Return the word before a name that is joined to it, as in `word.name`; "" for another expression, None for none.

    >>> qualifier("self.push", 5), qualifier("a().push", 4), qualifier("std::push", 5), qualifier("...push", 3)
    ('self', '', 'std', None)
    """
    before = source[max(position - _MOST_QUALIFIER, 0) : position]
    joined = _QUALIFIER.search(before)
    if not joined:
        return None
    word = _LAST_WORD.search(before.rstrip(".?&!->:\\"))
    return word.group() if word else ""
