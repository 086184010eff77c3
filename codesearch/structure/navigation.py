"""A name at a position in an editor -> what it means there, and where else that is meant.

Only what is certain or likely counts. A name that means nothing here may be one of a library, or a local variable.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from codesearch.languages import record_of
from codesearch.search.snippets import head_of
from codesearch.store.segments import IndexReader
from codesearch.store.source import Ref
from codesearch.structure.buffers import Buffers
from codesearch.structure.exports import exports_of
from codesearch.structure.meaning import (
    CERTAIN,
    LIKELY,
    SEVERAL,
    Names,
    SourceFile,
    graded,
    is_whole,
    occurrences,
    qualifier,
)
from codesearch.structure.usages import (
    Defined,
    Occurrence,
    Search,
    defined,
    derived_by,
    first_in_tests,
    own_names,
)
from codesearch.types import FUNCTIONS, PROTOTYPE, TYPE_KINDS, Definition

_MOST_CALLED = 300
"""Names in a function that may be called."""
_CALLED = re.compile(r"[?!]?\s*(?:<[^<>()]*>|::<[^()]*>|\[[^][()]*\])?\(")
_CALLABLE = (*FUNCTIONS, PROTOTYPE, *TYPE_KINDS)
_MEANT = (CERTAIN, LIKELY)
_BARE_CALLS = frozenset(
    ("ruby", "elixir", "haskell", "ocaml", "bash", "powershell", "perl", "julia", "lua", "nix")
)
"""Languages that call a function without brackets."""
_MOST_IN_FILE, _MOST_NAME = 2_000, 200


@dataclass(frozen=True, slots=True)
class Span:
    """Where a name is: a line and a column, both from 1 on and in characters."""

    path: Path
    line: int
    column: int
    size: int


Call = tuple[Defined, Span, list[Span]]
"""A definition at the other end of a call, where it has its name, and where it calls or is called."""


class Navigation:
    """Finds what names mean in some indexes, with texts that are open in an editor in place of what was indexed."""

    def __init__(
        self, indexes: Sequence[IndexReader], texts: Mapping[Path, str], folders: Sequence[Path] = ()
    ) -> None:
        buffers = Buffers(indexes, texts)
        self._search = Search(indexes, None, None, folders, buffers)
        self._file = cache(buffers.file)

    def at(self, path: Path, line: int, column: int) -> Names | None:
        """Return what the name at a position means, also if the position is behind it; None if that is not known."""
        file = self._file(path)
        if file is None or line > len(file.line_starts):
            return None
        start = file.line_starts[line - 1]
        for match in _words(file, start, file.source.find("\n", start)):
            if match.start() <= start + column - 1 <= match.end():
                return self._meant(file, match.group(), match.start(), line)
        return None

    def definitions(self, names: Names) -> list[tuple[Defined, Span]]:
        """Return the definitions, and where each has its name."""
        return self._with_names(defined(names.targets))

    def derived(self, names: Names) -> list[tuple[Defined, Span]]:
        """Return the types that derive from a type, or the methods that override a method."""
        bases = derived_by(self._search.usages_of(names).usages, names)
        return self._with_names(self._search.derived(names, bases, all_code=True)[0])

    def usages(self, names: Names) -> tuple[list[Span], int]:
        """Return where else the definitions are meant, the best grade first, and how many more lines may mean them."""
        usages = self._search.usages_of(names).usages
        spans = [_span(usage.file, usage.position, usage.line) for usage in usages if usage.grade in _MEANT]
        return spans, sum(usage.grade == SEVERAL for usage in usages)

    def counts(self, names: Names) -> tuple[int, int]:
        """Return how many lines use the definitions outside of tests and imports, and how many tests do."""
        used = self._used(names)
        in_code = sum(not (usage.is_other or usage.is_import) for usage in used)
        return in_code, len(first_in_tests(used, names))

    def in_file(self, names: Names, path: Path) -> list[Span]:
        """Return where a file means the definitions, with their own names."""
        if (file := self._file(path)) is None:
            return []
        own = dict(reversed(own_names(file, names)))
        starts = islice(occurrences(file.source, names.name), _MOST_IN_FILE)
        places = [(bisect_right(file.line_starts, start), start) for start in starts]
        return [
            _span(file, start, line)
            for line, start in places
            if any(ref.doc_id in names.target_ids for ref in _refs(file, names, start, line, own))
        ]

    def callers(self, names: Names) -> list[Call]:
        """Return the definitions that use some others, where each has its name, and where it uses them."""
        callers: defaultdict[Defined, list[Span]] = defaultdict(list)
        for usage in self._used(names):
            row = usage.file.innermost(usage.line)
            if row and not usage.is_import:
                caller = Defined(*row.shown(usage.file.proposed.file), root=usage.file.root)
                callers[caller].append(_span(usage.file, usage.position, usage.line))
        return [(*named, callers[named[0]]) for named in self._with_names(list(callers))]

    def called(self, names: Names) -> list[Call]:
        """Return what a definition calls, where that has its name, and where it is called."""
        called: defaultdict[Defined, list[Span]] = defaultdict(list)
        seen: dict[tuple[str, str | None], Sequence[Defined]] = {}
        for definition, name in self.definitions(names)[:1]:
            if (file := self._file(name.path)) is None:
                continue
            starts, line = (*file.line_starts, len(file.source)), name.line
            at = starts[line - 1] + name.column - 1 + name.size
            for match in _words(file, at, starts[min(definition.last_line, len(starts) - 1)]):
                if not (file.language in _BARE_CALLS or _CALLED.match(file.source, match.end())):
                    continue
                line, at = line + file.source.count("\n", at, match.start()), match.start()
                key = match.group(), qualifier(file.source, at)
                if key not in seen and len(seen) < _MOST_CALLED:
                    callees = self._meant(file, match.group(), at, line)
                    refs = {_function_of(ref): ref for ref in callees.targets[::-1]} if callees else {}
                    seen[key] = defined([*refs.values()][::-1])
                for other in seen.get(key, ()):
                    if other.kind in _CALLABLE:
                        called[other].append(_span(file, at, line))
        return [(*named, called[named[0]]) for named in self._with_names(list(called))]

    def _meant(self, file: SourceFile, word: str, position: int, line: int) -> Names | None:
        """Return what an occurrence certainly or likely means, perhaps by another name that an import gives it."""
        if any(_is_module(word, statement.text) for statement in file.imports if word in statement.words):
            return None
        renamed = (
            (of, statement.start + statement.text.index(of))
            for statement in file.imports
            for of, local in statement.bindings
            if local == word != of and of in statement.text
        )
        for name, start in ((word, position), *renamed):
            everything = self._search.definitions(name)
            at_line = bisect_right(file.line_starts, start)
            word = qualifier(file.source, start) or name
            is_imported = any(word in statement.words for statement in file.imports)
            for with_exports in (False, True)[: 1 + is_imported] if everything else ():
                names = Names(name, everything, everything, types=self._search.types)
                if with_exports:
                    exports, _ = exports_of(everything, self._search.files_naming)
                    names.add_exports((export.path, export.ref) for export in exports if export.name == name)
                own = dict(reversed(own_names(file, names)))
                if refs := _refs(file, names, start, at_line, own):
                    return Names(name, everything, refs, types=self._search.types)
        return None

    def _used(self, names: Names) -> list[Occurrence]:
        return [usage for usage in self._search.usages_of(names).usages if usage.grade in _MEANT]

    def _with_names(self, definitions: Sequence[Defined]) -> list[tuple[Defined, Span]]:
        """Return definitions whose files are there, each with the place of its name."""
        found = []
        for definition in definitions:
            path = Path(definition.root, definition.path)
            if file := self._file(path):
                lines = file.source.split("\n")[definition.start_line - 1 : definition.last_line]
                found.append((definition, name_in(definition, lines, path)))
        return found


def name_in(definition: Definition, lines: Sequence[str], path: Path) -> Span:
    """Return where a definition has its name in its lines; nothing at its beginning if it does not have it."""
    head = head_of(lines, definition.signature)
    name = re.compile(rf"(?<!\w){re.escape(definition.name)}(?!\w)")
    matches = ((number, name.search(lines[number])) for number in head if number < len(lines))
    number, found = next(((number, match) for number, match in matches if match), (head.start, None))
    line = lines[number] if lines else ""
    start, end = found.span() if found else (len(line) - len(line.lstrip()),) * 2
    return Span(path, definition.start_line + number, start + 1, end - start)


def _function_of(ref: Ref) -> Hashable:
    """Return the same for all prototypes of a function that has no other definition."""
    return (ref.root, ref.row.qualified_name) if ref.row.kind == PROTOTYPE else ref


def _words(file: SourceFile, start: int, end: int) -> Iterator[re.Match[str]]:
    """Return the names between two positions of a file."""
    word = re.compile(rf"[\w{re.escape(record_of(file.language).in_names)}]+")
    return word.finditer(file.source, start, end if end >= 0 else len(file.source))


def _refs(file: SourceFile, names: Names, position: int, line: int, own: Mapping[int, Ref]) -> Sequence[Ref]:
    """Return what an occurrence certainly or likely means; `own` are the lines where definitions have their names."""
    if line in own and names.name not in file.source[file.line_starts[line - 1] : position]:
        return [own[line]]
    grade, refs = graded(file, names, position, line)
    is_name = is_whole(file.source, position, len(names.name), file.language, names.sigil)
    return refs if is_name and grade in _MEANT else ()


def _is_module(word: str, statement: str) -> bool:
    """Say whether an import gives a name to all that a module has, as in `import * as util from "./util"`."""
    return re.search(rf"\*\s*as\s+{re.escape(word)}(?![\w$])", statement) is not None


def _span(file: SourceFile, position: int, line: int) -> Span:
    """Return the name that begins at a position."""
    end = next((match.end() for match in _words(file, position, position + _MOST_NAME)), position)
    return Span(Path(file.root, file.path), line, position - file.line_starts[line - 1] + 1, end - position)
