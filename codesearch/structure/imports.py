"""The import statements of a source, read as text -> the definitions that they name.

A statement agrees with a definition if the last parts of a path in it, such as `pkg.app` or `a::b`, are those of the
definition's file, without its suffix, or of its folder. The definitions that agree in the most parts are meant.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from codesearch.parsing.languages import language_of_path

_START = re.compile(
    rb"""[ \t]*(?:export[ ]|pub(?:\([^)\n]{0,40}\))?[ ]|(?:const|let|var|local)\b[^=\n]{1,200}=[ \t]*(?:await[ ]+)?)?
    (?:\#[ \t]*(?:include|import)\b|@?import\b|from\b|use\b|using\b|require(?:_relative|_once)?\b|include(?:_once)?\b
    |source\b|\.(?=[ \t])|open\b|alias\b|export\b|Import-Module\b|load\b|\}[ \t]*from\b|\}[ \t]*=[ \t]*require\b)
    [^\n]*""",
    re.VERBOSE,
)
_MARKS = {
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
_ANY_MARKS = (b"import", b"include", b"require", b"use ", b"using", b"load", b"open", b"source")
"""What stands in an import statement, to find its line fast."""
_OPEN, _CLOSE = b"({", b")}"
_MOST_BYTES = 4_000
"""Of one statement."""
_MOST_STATEMENTS, _MOST_LINES = 500, 2_000
_WORD = re.compile(r"[^\W\d][\w$]*[?!]?")
_PATH = re.compile(r"(?P<quote>[\"'<]?)(?P<path>[\w$@~.\-*]*(?:(?:::|[/\\.:])[\w$@~.\-*]*)+|[\w$@\-]+)")
_COMMENT = re.compile(r"\s(?://|--|#\s).*|/\*.*")
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


_SHELLS = ("bash", "powershell")


def module_parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path without its suffix, in a form that does not depend on the language.

    >>> module_parts("lib/Plug/basic_auth.ex")
    ('lib', 'plug', 'basicauth')
    """
    *folders, name = path.split("/")
    return _normal((*folders, name.partition(".")[0]))


def _normal(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(part.replace("_", "").replace("-", "").lower() for part in parts)


One = TypeVar("One")
Modules = Mapping[str, Sequence[tuple[tuple[str, ...], One]]]
"""The last part of a file or folder -> the parts of each such file and folder, and a definition in it."""


def by_module(definitions: Iterable[tuple[str, One]]) -> Modules[One]:
    """Return definitions, given with the path of each, by the last part of their file and of their folder."""
    modules: defaultdict[str, list[tuple[tuple[str, ...], One]]] = defaultdict(list)
    for path, definition in definitions:
        parts = module_parts(path)
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
        return frozenset(_WORD.findall(self.text))

    @property
    def opens_all(self) -> bool:
        """Say whether it makes all names of what it imports known."""
        return self.language in _OPENS_ALL or ("*" in self.text and " as " not in self.text)

    @property
    def is_standard_go(self) -> bool:
        """Say whether it imports a package of Go's standard library: the others begin with a domain."""
        return "." not in self.text.partition('"')[2].partition("/")[0]

    def agreeing(self, modules: Modules[One], name: str) -> list[tuple[int, One]]:
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
        for match in _PATH.finditer(_COMMENT.sub("", self.text)):
            path = match["path"]
            if (match["quote"] or "/" in path or self.language in _SHELLS) and language_of_path(path):
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


def statements(source: bytes, path: str, language: str) -> list[Statement]:
    """Return the first import statements of a source, with the lists in brackets that they open."""
    found: list[Statement] = []
    for start in sorted(_lines_with(source, _MARKS.get(language, _ANY_MARKS))):
        match = None if found and start < found[-1].end else _START.match(source, start)
        if not match:
            continue
        end = _end_of(source, match.start(), match.end())
        text = source[match.start() : min(end, match.start() + _MOST_BYTES)].decode("utf-8", "replace")
        if language == "go" and "(" in text:  # Each line is an import of its own.
            place = match.start()
            for row in text.splitlines(keepends=True):
                size = len(row.encode("utf-8", "replace"))
                found.append(Statement(place, place + size, row, path, language))
                place += size
            continue
        found.append(Statement(match.start(), end, text, path, language))
        if len(found) == _MOST_STATEMENTS:
            break
    return found


def _lines_with(source: bytes, marks: Sequence[bytes]) -> set[int]:
    """Return the starts of the first lines that have one of some marks."""
    starts = {0}
    for mark in marks:
        place = source.find(mark)
        while place >= 0 and len(starts) < _MOST_LINES:
            starts.add(source.rfind(b"\n", 0, place + mark.startswith(b"\n")) + 1)
            end = source.find(b"\n", place + 1)
            place = source.find(mark, end) if end >= 0 else -1
    return starts


def _end_of(source: bytes, start: int, end: int) -> int:
    """Return where a statement ends: at the end of the line, or of the line with the last bracket that it opens."""
    depth = sum(map(source[start:end].count, (b"(", b"{"))) - sum(map(source[start:end].count, (b")", b"}")))
    if depth <= 0:
        return end
    for place in range(end, min(len(source), start + _MOST_BYTES)):
        byte = source[place]
        depth += (byte in _OPEN) - (byte in _CLOSE)
        if depth == 0:
            line_end = source.find(b"\n", place)
            return line_end if line_end >= 0 else len(source)
    return end


def _common_end(path: tuple[str, ...], module: tuple[str, ...]) -> int:
    count = 0
    for one, other in zip(reversed(path), reversed(module), strict=False):
        if one != other:
            break
        count += 1
    return count
