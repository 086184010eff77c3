"""The import statements of a source -> the definitions whose files they agree with.

A statement agrees with a definition if the last parts of a path in it, such as `pkg.app` or `a::b`, are those of the
definition's file, without its suffix, or of its folder.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, takewhile
from typing import TypeVar

from codesearch.languages import language_of_path, record_of

_IMPORT = re.compile(
    r"""[ \t]*(?:export[ ]|pub(?:\([^)\n]{0,40}\))?[ ]|(?:const|let|var|local)\b[^=\n]{1,200}=[ \t]*(?:await[ ]+)?)?
    (?:\#[ \t]*(?:include|import)\b|@?import\b|from\b|use\b|using\b|require(?:_relative|_once)?\b|include(?:_once)?\b
    |source\b|\.(?=[ \t])|open\b|alias\b|export\b|Import-Module\b|load\b|\}[ \t]*from\b|\}[ \t]*=[ \t]*require\b)
    [^\n]*     # An export or a variable, the word of a language, and the rest of the line.""",
    re.VERBOSE,
)
_MOST_STATEMENT = 4_000
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
_BRACKET = re.compile(r"[(){}]")
DEFAULT = "default"
"""What the default export of a file is called."""
# `helper as h`, `helper => h` of Scala, `Helper, as: H` of Elixir, `{ helper: h }` of JavaScript; `using H = A.Helper`.
_RENAMED = re.compile(r"([\w$]+)\s*(?:\bas\b|=>|,\s*as:|:(?!:))\s*([^\W\d][\w$]*)")
_USING = re.compile(r"\s*(?:global\s+)?using\s+(\w+)\s*=\s*(?:[\w.]*\.)?(\w+)")
# The name that a file of JavaScript gives to a default export.
_OF_DEFAULT = re.compile(
    r"\s*import\s+(?:type\s+)?([\w$]+)\s*(?:,|from\b)|\s*(?:const|let|var)\s+([\w$]+)\s*=\s*require\((?![^)\n]*\)\s*\.)"
)
_STAR = re.compile(r"\s*export\s+\*\s+from\b|\s*from\b.*\bimport\s+\*")
_QUOTED = re.compile(r"[\"']([^\"'\n]*)[\"']")
_KEYWORD = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?(?:from|import|use)\s+(?:static\s+|type\s+)?")
_HERE = frozenset(("crate", "self", "super", "@", "~", "#"))
"""What a path within the project begins with."""
R = TypeVar("R")
Modules = Mapping[str, Sequence[tuple[tuple[str, ...], R]]]
"""The last part of a file or folder -> the parts of each such file and folder, and a definition in it."""


def composed(text: str) -> str:
    """Return a text with composed letters, because `é` is one identifier in both its forms."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def normal(parts: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a path in a form that does not depend on the language."""
    return tuple(part.replace("_", "").replace("-", "").lower() for part in parts)


def module_of(path: str) -> tuple[str, ...]:
    """Return the parts of a file without its suffix."""
    *folders, name = path.split("/")
    return normal((*folders, name.partition(".")[0]))


def by_module(definitions: Iterable[tuple[str, R]]) -> Modules[R]:
    """Return definitions, given with the path of each, by the last part of their file and of their folder."""
    modules: defaultdict[str, list[tuple[tuple[str, ...], R]]] = defaultdict(list)
    for path, definition in definitions:
        parts = module_of(path)
        for module in filter(None, (parts, parts[:-1])):
            modules[module[-1]].append((module, definition))
    return modules


@dataclass(frozen=True)
class Statement:
    """An import statement of a file; `start` and `end` are positions in the source."""

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
        return record_of(self.language).opens_all or ("*" in self.text and " as " not in self.text)

    @cached_property
    def bindings(self) -> list[tuple[str, str]]:
        """What it calls each name that it renames or exports: its name there and here; ("*", "*") for all names."""
        found = [(match[1], match[2]) for match in _RENAMED.finditer(self.text)]
        if using := _USING.match(self.text):
            found.append((using[2], using[1]))
        if record_of(self.language).is_script and (default := _OF_DEFAULT.match(self.text)):
            found.append((DEFAULT, default[1] or default[2]))
        if self.is_export:
            renamed = {name for pair in found for name in pair}
            found += [(word, word) for word in self.words - renamed]
            found += [("*", "*")] if _STAR.match(self.text) else []
        return found

    @property
    def is_export(self) -> bool:
        """Say whether the file exports what it imports."""
        text = self.text.lstrip()
        return text.startswith(("export", "pub ", "pub(")) or self.path.endswith("__init__.py")

    def leads_to(self, module: tuple[str, ...], name: str) -> bool:
        """Say whether all of a path in it, or two parts of it, are the end of a module or of its folder."""
        folder = module[:-1] if module[-1:] and module[-1] in ("init", "index", "mod") else module
        return any(
            _common_end(path, of) >= min(2, len(path))
            for path in self._paths(name)
            for of in (module, folder)
        )

    def is_outside(self, folders: Collection[str]) -> bool:
        """Say whether it imports from a place that is in none of some folders and files, such as a library."""
        if self.language == "go":  # Only the packages of its standard library begin without a domain.
            return "." not in self.text.partition('"')[2].partition("/")[0]
        quoted = _QUOTED.search(self.text)
        text = quoted[1] if quoted else _KEYWORD.sub("", self.text.strip(), count=1)
        first, *_ = _PARTS.split(text.rpartition("=")[2].strip()) or [""]  # C#: `using Basket = Shop.Cart;`
        first = re.split(r"[\s,;({]", first)[0]
        return bool(first) and first not in _HERE and not self.opens_all and normal([first])[0] not in folders

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
                yield normal(parts)
            if parts[-1] == name and len(parts) > 1:
                yield normal(parts[:-1])

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


def import_statements(source: str, path: str, language: str) -> list[Statement]:
    """Return the first import statements of a source, with the lists in brackets that they open."""
    statements: list[Statement] = []
    lines = chain.from_iterable(lines_with(source, mark) for mark in record_of(language).imports)
    for start in sorted({0, *(start for start, _ in islice(lines, _MOST_LINES))}):
        match = None if statements and start < statements[-1].end else _IMPORT.match(source, start)
        if not match:
            continue
        begin, end = start, min(_end_of(source, start, match.end()), start + _MOST_STATEMENT)
        text = source[start:end]
        is_list = language == "go" and "(" in text  # Each line is an import of its own.
        for part in text.splitlines(keepends=True) if is_list else [text]:
            statements.append(Statement(begin, begin + len(part), part, path, language))
            begin += len(part)
        if len(statements) >= _MOST_STATEMENTS:
            break
    return statements


def lines_with(source: str, mark: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line that has a mark, which may begin with the end of the line above."""
    end = 0
    while (position := source.find(mark, end)) >= 0:
        end = source.find("\n", position + 1)
        end = end if end >= 0 else len(source)
        yield source.rfind("\n", 0, position + mark.startswith("\n")) + 1, end


def _end_of(source: str, start: int, end: int) -> int:
    """Return where a statement ends: at the end of the line, or of the line with the last bracket that it opens."""
    depth = sum(map(source[start:end].count, ("(", "{"))) - sum(map(source[start:end].count, (")", "}")))
    position = end
    while depth > 0:
        bracket = _BRACKET.search(source, position, start + _MOST_STATEMENT)
        if bracket is None:
            return end
        depth += 1 if bracket.group() in "({" else -1
        position = bracket.end()
    if position == end:
        return end
    line_end = source.find("\n", position)
    return line_end if line_end >= 0 else len(source)


def _common_end(path: tuple[str, ...], module: tuple[str, ...]) -> int:
    pairs = zip(reversed(path), reversed(module), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
