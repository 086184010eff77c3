"""A name in a source -> the definitions that it can mean, and how sure that is.

`graded` reads what is around the name as text: the word before it, the definition around it, and the import
statements of its file. A statement agrees with a definition if the last parts of a path in it, such as `pkg.app` or
`a::b`, are those of the definition's file, without its suffix, or of its folder. The definitions that agree in the most
parts are meant.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TypeVar

from codesearch.parsing.languages import language_of_path, separator_of
from codesearch.search.literals import Proposed
from codesearch.search.lookup import innermost
from codesearch.store.source import Ref
from codesearch.types import FIELD, NESTED

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
_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_ALSO = {
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "html", "coffeescript", "java"), b"$"),
    **dict.fromkeys(("css", "nix"), b"-"),
    **dict.fromkeys(("lisp", "clojure"), b"-*?!"),
}
"""Characters of identifiers, apart from letters, digits and underscores."""
_AT_END = {
    **dict.fromkeys(("ruby", "elixir", "crystal"), b"?!"),
    **dict.fromkeys(("haskell", "ocaml", "ocamli", "purescript", "fsharp", "nix"), b"'"),
    "julia": b"!",
}
"""Characters that identifiers may end with."""
_HASH, _DASHES, _SLASHES = (
    re.compile(rb"(?:^|\s)" + mark) for mark in (rb"#(?!\{)", rb"--", rb"//|^\s*\*[\s/]|/\*(?!.*\*/)")
)
_COMMENT = {
    **dict.fromkeys(
        "python cython ruby crystal bash perl elixir r julia yaml toml powershell nim".split(), _HASH
    ),
    **dict.fromkeys("coffeescript cmake make dockerfile terraform nix".split(), _HASH),
    **dict.fromkeys("lua sql haskell elm purescript".split(), _DASHES),
    "php": re.compile(rb"|".join((_HASH.pattern, _SLASHES.pattern))),
}
"""What opens a comment; by default `_SLASHES`."""
_CHARACTER_BYTES = 4
"""Of a character in UTF-8, at most."""
_QUALIFIER = re.compile(rb"(?:^|[^.])(?:\.|\?\.|&\.|!!\.|->|::|\\)\Z")
_LAST_WORD = re.compile(rb"[\w\x80-\xff]+\Z")
_MOST_QUALIFIER = 80
_MOST_LINE = 1_000
"""Bytes of a line that are looked through for the mark of a comment."""


_IMPORT = re.compile(
    rb"""[ \t]*(?:export[ ]|pub(?:\([^)\n]{0,40}\))?[ ]|(?:const|let|var|local)\b[^=\n]{1,200}=[ \t]*(?:await[ ]+)?)?
    (?:\#[ \t]*(?:include|import)\b|@?import\b|from\b|use\b|using\b|require(?:_relative|_once)?\b|include(?:_once)?\b
    |source\b|\.(?=[ \t])|open\b|alias\b|export\b|Import-Module\b|load\b|\}[ \t]*from\b|\}[ \t]*=[ \t]*require\b)
    [^\n]*""",
    re.VERBOSE,
)
_IN_IMPORTS = {
    **dict.fromkeys(("python", "cython", "java", "kotlin", "scala", "groovy", "go"), (b"import",)),
    **dict.fromkeys(("haskell", "swift", "dart", "zig", "nix", "elm"), (b"import",)),
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), (b"import", b"from", b"require")),
    **dict.fromkeys(("c", "cpp", "objc"), (b"include", b"import")),
    **dict.fromkeys(("ruby", "lua"), (b"require", b"load")),
    **dict.fromkeys(("bash", "powershell"), (b"source", b"\n.", b"Import-Module")),
    "rust": (b"use ",),
    "php": (b"use ", b"require", b"include"),
    "csharp": (b"using",),
    "ocaml": (b"open",),
    "elixir": (b"import", b"alias", b"use ", b"require"),
    "julia": (b"using", b"import", b"include"),
}
_IN_ANY_IMPORT = (b"import", b"include", b"require", b"use ", b"using", b"load", b"open", b"source")
"""What stands in an import statement, to find its line fast; by default `_IN_ANY_IMPORT`."""
_MOST_STATEMENT_BYTES = 4_000
_MOST_STATEMENTS, _MOST_LINES = 500, 2_000
_IMPORTED_WORD = re.compile(r"[^\W\d][\w$]*[?!]?")
_PATH = re.compile(r"(?P<quote>[\"'<]?)(?P<path>[\w$@~.\-*]*(?:(?:::|[/\\.:])[\w$@~.\-*]*)+|[\w$@\-]+)")
_IN_IMPORT_COMMENT = re.compile(r"\s(?://|--|#\s).*|/\*.*")
_MAJOR = re.compile(r"v[0-9]+")
_PARTS = re.compile(r"::|[/\\.:]+")
_KEYWORDS = frozenset(
    "import from use using require require_relative require_once include include_once source open alias export load as "
    "pub const let var local static function type default package crate self super std public hiding qualified module "
    "mod extern await show".split()
)
_OPENS_ALL = frozenset(
    "c cpp objc php ruby bash csharp haskell dart elixir julia ocaml swift powershell cython".split()
)
"""Languages in which an import of a file or a module makes all its names known without a qualifier."""
_BRACKET = re.compile(rb"[(){}]")
R = TypeVar("R")
Modules = Mapping[str, Sequence[tuple[tuple[str, ...], R]]]
"""The last part of a file or folder -> the parts of each such file and folder, and a definition in it."""


class Names:
    """The definitions of a name; `targets` are the doc_ids of those that are asked for, in `target_files`."""

    def __init__(self, name: str, everything: Sequence[Ref], targets: Sequence[Ref]) -> None:
        self.name, self.text = name.encode("utf-8", "surrogatepass"), name
        self.targets = {ref.doc_id for ref in targets}
        self.target_files = {(ref.root, ref.path) for ref in targets}
        self.only_targets = len(targets) < len(everything)
        self._all = everything
        self._by_family: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        self._by_file: defaultdict[tuple[str, str], list[Ref]] = defaultdict(list)
        for ref in everything:
            family = _FAMILY.get(ref.file.language, ref.file.language)
            for root in (ref.root, ""):
                self._by_family[root, family].append(ref)
            self._by_file[ref.root, ref.path].append(ref)
        self.modules = by_module((f"{ref.root.strip('/')}/{ref.path}", ref) for ref in everything)
        self.has_only_methods = all(map(_is_method, everything))
        self.owners = {ref.owner for ref in everything}

    def in_file(self, root: str, path: str) -> Sequence[Ref]:
        """Return the definitions in a file, in the order of lines."""
        return self._by_file.get((root, path), ())

    def possible(self, file: SourceFile) -> Sequence[Ref]:
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
        self.meant: dict[str | int | None, list[Ref]] = {}

    @cached_property
    def imports(self) -> list[Statement]:
        """Its import statements."""
        return import_statements(self.source, self.path, self.language)

    @cached_property
    def spans(self) -> list[tuple[int, int, str]]:
        """(first line, last line, qualified name) of its definitions, outer ones first."""
        file = self.proposed.file
        return self.proposed.segment.store.document_spans(file.first_doc, file.doc_count)

    @cached_property
    def _lines(self) -> list[tuple[int, int]]:
        return [(first, last) for first, last, _ in self.spans]

    def innermost(self, line: int) -> int | None:
        """Return the position of the innermost definition around a line."""
        return innermost(self._lines, line)


def _is_method(ref: Ref) -> bool:
    return ref.row.kind == "method" or (ref.row.kind == FIELD and ref.owner != "")


def graded(file: SourceFile, names: Names, position: int, line: int) -> tuple[int, Sequence[Ref]]:
    """Return the grade of an occurrence, as a position in `GRADES`, and what it can mean."""
    if not names.modules:
        return NO_DEFINITION, ()
    own = names.in_file(file.root, file.path)
    before = qualifier(file.source, position)
    meant = [ref for ref in own if _reaches(ref, file, line, before)] or _imported(
        file, names, position, before
    )
    if len(meant) == 1:
        return 0, meant
    possible = meant or _possible(file, names, before)
    return (1 if len(possible) == 1 else 2 if possible else NO_DEFINITION), possible


def _possible(file: SourceFile, names: Names, before: str | None) -> Sequence[Ref]:
    """Return the definitions that the word before an occurrence allows."""
    possible = names.possible(file)
    if not before:
        return possible
    if file.language == "go" and any(
        statement.is_standard_go and before in statement.words for statement in file.imports
    ):
        return list(filter(_is_method, possible))
    return [ref for ref in possible if ref.owner == before] or possible


def _reaches(ref: Ref, file: SourceFile, line: int, before: str | None) -> bool:
    """Say whether an occurrence in the file of a definition means this definition."""
    if before is not None and before == ref.owner:
        return True
    is_plain = before is None or before in _SELF.get(file.language, ("this",))
    if not _is_method(ref) and not ref.row.flags & NESTED:
        return is_plain
    if not is_plain or (before is None and _is_method(ref) and file.language in _NEEDS_SELF):
        return False
    inside = file.innermost(line)
    if inside is None:
        return False
    return f"{file.spans[inside][2]}{separator_of(ref.file.language)}".startswith(ref.around)


def _imported(file: SourceFile, names: Names, position: int, before: str | None) -> list[Ref]:
    """Return the definitions in other files that the import statements of a file name."""
    if before not in names.owners and names.has_only_methods:
        return []
    imports = file.imports
    around = bisect_right(imports, position, key=lambda statement: statement.start) - 1
    is_inside = around >= 0 and position < imports[around].end
    key = around if is_inside else before
    if key not in file.meant:
        chosen = imports[around : around + 1] if is_inside else imports
        file.meant[key] = _meant(chosen, names, None if is_inside else before, names.possible(file))
    return file.meant[key]


def _meant(
    imports: Sequence[Statement], names: Names, before: str | None, possible: Sequence[Ref]
) -> list[Ref]:
    """Return the definitions that agree best with the statements that name them or the word before the name."""
    best, meant, allowed = 1, list[Ref](), set(possible)
    word = names.text if before is None else before
    for statement in imports:
        is_named = word in statement.text and word in statement.words
        if not is_named and not statement.opens_all:
            continue
        for score, ref in statement.agreeing(names.modules, names.text):
            if before is None:
                is_meant = not _is_method(ref)
            else:
                is_meant = before == ref.owner if _is_method(ref) or not is_named else True
            if is_meant and score >= best and ref in allowed:
                meant = [*(meant if score == best else ()), ref]
                best = score
    return list(dict.fromkeys(meant))


def occurrences(source: bytes, name: bytes, language: str) -> Iterator[int]:
    """Yield the position of each occurrence that is not a part of a longer identifier of the language.

    >>> list(occurrences(b"empty? if empty or $empty", b"empty", "ruby"))
    [10, 20]
    """
    inside = _WORD | set(_ALSO.get(language, b""))
    after = inside | set(_AT_END.get(language, b""))
    begins, ends = (
        is_part(name[:_CHARACTER_BYTES], inside),
        is_part(name[-_CHARACTER_BYTES:], after, last=True),
    )
    # Most occurrences in longer words are ruled out by the bytes next to them, because a call for each would be slow.
    longer_before, longer_after = (inside if begins else frozenset(), _WORD if ends else frozenset())
    position, size, length = source.find(name), len(name), len(source)
    while position >= 0:
        end = position + size
        if not (
            (end < length and source[end] in longer_after)
            or (position and source[position - 1] in longer_before)
            or (begins and is_part(source[max(position - _CHARACTER_BYTES, 0) : position], inside, last=True))
            or (ends and is_part(source[end : end + _CHARACTER_BYTES], after))
        ):
            yield position
        position = source.find(name, position + 1)


def is_part(text: bytes, inside: frozenset[int], *, last: bool = False) -> bool:
    """Say whether the first (or last) character of a few bytes can be a part of an identifier."""
    if not text:
        return False
    byte = text[-1 if last else 0]
    if byte >= 0x80:
        return text.decode("utf-8", "ignore")[-1 if last else 0 :][:1].isalnum()
    # "a!=b" compares `a`.
    return byte in inside and not (byte in b"?!" and not last and text[1:2] == b"=")


def in_comment(source: bytes, position: int, language: str) -> bool:
    """Say whether a position is behind what opens a comment in its line.

    >>> in_comment(b"// get", 3, "go"), in_comment(b"# get", 2, "ruby"), in_comment(b'"http://get"', 8, "go")
    (True, True, False)
    """
    line = source[max(source.rfind(b"\n", 0, position) + 1, position - _MOST_LINE) : position]
    return _COMMENT.get(language, _SLASHES).search(line) is not None


def qualifier(source: bytes, position: int) -> str | None:
    """Return the word before a name that is joined to it, as in `word.name`; "" for another expression, None for none.

    >>> qualifier(b"self.push", 5), qualifier(b"a().push", 4), qualifier(b"std::push", 5), qualifier(b"...push", 3)
    ('self', '', 'std', None)
    """
    before = source[max(position - _MOST_QUALIFIER, 0) : position]
    joined = _QUALIFIER.search(before)
    if not joined:
        return None
    word = _LAST_WORD.search(before.rstrip(b".?&!->:\\"))
    return word.group().decode("utf-8", "replace") if word else ""


def _normal(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a path in a form that does not depend on the language."""
    return tuple(part.replace("_", "").replace("-", "").lower() for part in parts)


def by_module(definitions: Iterable[tuple[str, R]]) -> Modules[R]:
    """Return definitions, given with the path of each, by the last part of their file and of their folder."""
    modules: defaultdict[str, list[tuple[tuple[str, ...], R]]] = defaultdict(list)
    for path, definition in definitions:
        *folders, name = path.split("/")
        parts = _normal((*folders, name.partition(".")[0]))
        for module in filter(None, (parts, parts[:-1])):
            modules[module[-1]].append((module, definition))
    return modules


@dataclass(frozen=True)
class Statement:
    """An import statement of a file; `start` and `end` are bytes of the source."""

    start: int
    end: int
    text: str
    path: str
    language: str

    @cached_property
    def words(self) -> frozenset[str]:
        """All words in it."""
        return frozenset(_IMPORTED_WORD.findall(self.text))

    @property
    def opens_all(self) -> bool:
        """Say whether it makes all names of what it imports known."""
        return self.language in _OPENS_ALL or ("*" in self.text and " as " not in self.text)

    @property
    def is_standard_go(self) -> bool:
        """Say whether it imports a package of Go's standard library: the others begin with a domain."""
        return "." not in self.text.partition('"')[2].partition("/")[0]

    def agreeing(self, modules: Modules[R], name: str) -> list[tuple[int, R]]:
        """Return the definitions that agree with it, each with the number of equal parts."""
        return [
            (_common_end(path, module), definition)
            for path in self._paths(name)
            for module, definition in modules.get(path[-1], ())
        ]

    def _paths(self, name: str) -> Iterator[tuple[str, ...]]:
        """Yield the parts of the paths that can lead to a name; if some paths end in the name, only those."""
        paths = list(self._all_paths())
        ending = [parts for parts in paths if len(parts) > 1 and parts[-1] == name]
        for parts in ending or paths:
            if len(paths) == 1 or parts != [name]:
                yield _normal(parts)
            if parts[-1] == name and len(parts) > 1:
                yield _normal(parts[:-1])

    def _all_paths(self) -> Iterator[list[str]]:
        for match in _PATH.finditer(_IN_IMPORT_COMMENT.sub("", self.text)):
            path = match["path"]
            if (
                match["quote"] or "/" in path or self.language in ("bash", "powershell")
            ) and language_of_path(path):
                path = path.rpartition(".")[0]
            if path.startswith("."):
                path = self._from_here(path)
            parts = [part for part in _PARTS.split(path) if part.strip("*")]
            if self.language == "go" and len(parts) > 1 and _MAJOR.fullmatch(parts[-1]):
                parts.pop()  # The version of a module is no folder.
            if len(parts) > 1 or (parts and parts[0] not in _KEYWORDS):
                yield parts

    def _from_here(self, path: str) -> str:
        """Return a relative path, or a module of Python that begins with dots, from the root."""
        folder = posixpath.dirname(self.path)
        if "/" in path:
            return posixpath.normpath(posixpath.join(folder, path))
        bare = path.lstrip(".")
        above = "../" * (len(path) - len(bare) - 1)
        return posixpath.normpath(posixpath.join(folder, above, bare.replace(".", "/")))


def import_statements(source: bytes, path: str, language: str) -> list[Statement]:
    """Return the first import statements of a source, with the lists in brackets that they open."""
    statements: list[Statement] = []
    for start in sorted(_lines_with(source, _IN_IMPORTS.get(language, _IN_ANY_IMPORT))):
        match = None if statements and start < statements[-1].end else _IMPORT.match(source, start)
        if not match:
            continue
        end = _end_of(source, match.start(), match.end())
        text = source[match.start() : min(end, match.start() + _MOST_STATEMENT_BYTES)].decode(
            "utf-8", "replace"
        )
        if language == "go" and "(" in text:  # Each line is an import of its own.
            begin = match.start()
            for line in text.splitlines(keepends=True):
                line_end = begin + len(line.encode("utf-8", "replace"))
                statements.append(Statement(begin, line_end, line, path, language))
                begin = line_end
            continue
        statements.append(Statement(match.start(), end, text, path, language))
        if len(statements) == _MOST_STATEMENTS:
            break
    return statements


def _lines_with(source: bytes, marks: Sequence[bytes]) -> set[int]:
    """Return the starts of the first lines that have one of some marks."""
    starts = {0}
    for mark in marks:
        position = source.find(mark)
        while position >= 0 and len(starts) < _MOST_LINES:
            starts.add(source.rfind(b"\n", 0, position + mark.startswith(b"\n")) + 1)
            end = source.find(b"\n", position + 1)
            position = source.find(mark, end) if end >= 0 else -1
    return starts


def _end_of(source: bytes, start: int, end: int) -> int:
    """Return where a statement ends: at the end of the line, or of the line with the last bracket that it opens."""
    depth = sum(map(source[start:end].count, (b"(", b"{"))) - sum(map(source[start:end].count, (b")", b"}")))
    position = end
    while depth > 0:
        bracket = _BRACKET.search(source, position, start + _MOST_STATEMENT_BYTES)
        if bracket is None:
            return end
        depth += 1 if bracket.group() in b"({" else -1
        position = bracket.end()
    if position == end:
        return end
    line_end = source.find(b"\n", position)
    return line_end if line_end >= 0 else len(source)


def _common_end(path: tuple[str, ...], module: tuple[str, ...]) -> int:
    pairs = zip(reversed(path), reversed(module), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
