"""Suite `forms`: names, paths and text copied from the code, as people type them.

`--data` is a folder whose direct subfolders are repositories. 500 queries are made from what is indexed of them, always
the same ones for the same files:

    name       `push`
    keyword    `class Stack`, `fn push`
    where      `where is push defined`, `definition of push`
    qualified  `Stack.push`
    call       `push()`
    kind       `Stack class`, `push function`
    path       the whole path, every second one with the name of the repository before it
    suffix     the file and its folder
    file       the name of the file
    line       file and folder, and a line of a definition
    string     a string of four words or more that occurs once in the repository; every second one in quotes
    comment    a line of a comment, the same

`accuracy` is the share of the queries of a form whose first hit is right: a definition with the name (and the kind, if
the query has it), a definition of a file with this path, the innermost definition at the line, or around the text. If
no definition is around the text, all definitions of the file are right.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codesearch.evaluation.data import QueryId, QueryScores, Run, query_id
from codesearch.evaluation.judge import BenchOptions, Collection, Questions, Tree, judge
from codesearch.evaluation.result import SuiteResult
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.source import read_source

QUERIES = 500
NAMED = ("function", "method", "class", "interface", "enum", "struct", "trait", "type")
_KEYWORDS = {
    **dict.fromkeys(("python", "ruby", "scala", "elixir"), "def"),
    **dict.fromkeys(("go", "swift"), "func"),
    **dict.fromkeys(("rust", "zig"), "fn"),
    "kotlin": "fun",
}
_SEPARATORS = {"php": "::", "cpp": "::", "rust": "::", "ruby": "#"}
_NAME = re.compile(r"[A-Za-z_]\w*")
_STRING = re.compile(r"\"([^\"\\\n]{16,120})\"|(?<!\w)'([^'\\\n]{16,120})'")
_COMMENT = re.compile(r"^\s*(?:#|//+|--|/?\*+)\s+(\S.{14,118}\S)\s*$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z]{2,}")
_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, and the keys of the documents that are right."""

    text: str
    right: frozenset[str]


@dataclass(frozen=True)
class Sources:
    """What queries are made from: the documents and the texts of a repository, in the order of paths."""

    root: Path
    documents: Sequence[tuple[FileRecord, DocumentRow]]
    texts: dict[str, str]

    @cached_property
    def by_name(self) -> dict[str, list[tuple[FileRecord, DocumentRow]]]:
        """Return the documents with each name."""
        found = defaultdict(list)
        for file, row in self.documents:
            found[row.name].append((file, row))
        return found

    @cached_property
    def names(self) -> list[str]:
        """Return the names of functions and classes, sorted."""
        return sorted(
            {row.name for _, row in self.documents if row.kind in NAMED and _NAME.fullmatch(row.name)}
        )

    @cached_property
    def by_path(self) -> dict[str, list[DocumentRow]]:
        """Return the documents of each file."""
        found = defaultdict(list)
        for file, row in self.documents:
            found[file.path].append(row)
        return found

    @cached_property
    def all_text(self) -> str:
        """Return all texts as one."""
        return "\n".join(self.texts.values())


def run(data: Path, options: BenchOptions) -> SuiteResult:
    """Run the suite."""
    roots = sorted(path for path in data.iterdir() if path.is_dir())
    seen: set[QueryId] = set()
    trees = [
        Tree(
            root.resolve(),
            lambda collection: _questions(collection, QUERIES // len(roots), seen),
            key,
            everything=True,
            details={"repository": root.name},
        )
        for root in roots
    ]
    return judge("forms", trees, options)


def key(file: FileRecord, row: DocumentRow) -> str:
    """Return the path, line and qualified name of a document."""
    return f"{file.path}:{row.start_line}:{row.qualified_name}"


def _questions(collection: Collection, count: int, seen: set[QueryId]) -> Questions:
    asked = make_queries(_sources(collection), count, seen)

    def score(found: Run) -> QueryScores:
        return {
            query: {"accuracy": float(bool(asked[query].right.intersection(found[query][:1])))}
            for query in asked
        }

    qrels = {query: dict.fromkeys(one.right, 1.0) for query, one in asked.items()}
    return Questions({query: one.text for query, one in asked.items()}, score, qrels)


def make_queries(sources: Sources, count: int, seen: set[QueryId]) -> dict[QueryId, Asked]:
    """Make queries of all forms in turn, without those in `seen`, and add them to it."""
    dice = random.Random(sources.root.name)
    makers = {form: make(sources, dice) for form, make in FORMS.items()}
    made: dict[QueryId, Asked] = {}
    while len(made) < count and makers:
        for form in list(makers):
            query = next((one for one in makers[form] if query_id(form, one.text) not in seen), None)
            if query is None:
                del makers[form]
            elif len(made) < count:
                seen.add(query_id(form, query.text))
                made[query_id(form, query.text)] = query
    return made


def _sources(collection: Collection) -> Sources:
    files = sorted(
        ((file, segment) for segment in collection.index.segments for file in segment.files),
        key=lambda found: found[0].path,
    )
    documents = [(file, row) for file, segment in files for row in segment.store.document_rows(file)]
    texts = {
        file.path: read[0].decode("utf-8", "replace")
        for file, segment in files
        if (read := read_source(segment, file)) is not None
    }
    return Sources(collection.index.root, documents, texts)


def _names(
    write: Callable[[FileRecord, DocumentRow, int], str], *, of_kind: bool = False
) -> Callable[[Sources, random.Random], Iterator[Asked]]:
    """Return a maker of queries from names; `write` gets a document and the number of the query."""

    def make(sources: Sources, dice: random.Random) -> Iterator[Asked]:
        for number, name in enumerate(dice.sample(sources.names, len(sources.names))):
            file, row = dice.choice([found for found in sources.by_name[name] if found[1].kind in NAMED])
            same = (found for found in sources.by_name[name] if not of_kind or _alike(found[1], row))
            yield Asked(write(file, row, number), frozenset(key(*found) for found in same))

    return make


def _alike(one: DocumentRow, other: DocumentRow) -> bool:
    functions = ("function", "method")
    return one.kind == other.kind or (one.kind in functions and other.kind in functions)


def _declared(file: FileRecord, row: DocumentRow, _: int) -> str:
    is_function = row.kind in ("function", "method")
    return f"{_KEYWORDS.get(file.language, 'function') if is_function else row.kind} {row.name}"


def _qualified(sources: Sources, dice: random.Random) -> Iterator[Asked]:
    for asked in _names(lambda _, row, number: row.name)(sources, dice):
        file, row = dice.choice(sources.by_name[asked.text])
        *_, outer = ["", *re.findall(r"\w+", row.qualified_name)[:-1]]
        if _NAME.fullmatch(outer):
            ending = re.compile(rf"(?:^|\W){outer}\W+{row.name}$")
            same = (found for found in sources.by_name[row.name] if ending.search(found[1].qualified_name))
            text = f"{outer}{_SEPARATORS.get(file.language, '.')}{row.name}"
            yield Asked(text, frozenset(key(*found) for found in same))


def _paths(parts: int) -> Callable[[Sources, random.Random], Iterator[Asked]]:
    """Return a maker of queries from the last parts of paths; 0 for whole paths, half of them with the root."""

    def make(sources: Sources, dice: random.Random) -> Iterator[Asked]:
        paths = sorted(sources.by_path)
        for number, path in enumerate(dice.sample(paths, len(paths))):
            end = "/".join(path.split("/")[-parts:])
            files = [other for other in paths if other == end or other.endswith(f"/{end}")]
            if parts or not number % 2:
                yield Asked(end, _of_files(sources, [path] if end == path else files))
            else:
                yield Asked(f"{sources.root.name}/{path}", _of_files(sources, [path]))

    return make


def _of_files(sources: Sources, paths: Sequence[str]) -> frozenset[str]:
    return frozenset(
        f"{path}:{row.start_line}:{row.qualified_name}" for path in paths for row in sources.by_path[path]
    )


def _lines(sources: Sources, dice: random.Random) -> Iterator[Asked]:
    for asked in _paths(2)(sources, dice):
        paths = sorted({right.partition(":")[0] for right in asked.right})
        if len(paths) == 1:
            row = dice.choice(sources.by_path[paths[0]])
            line = dice.randint(row.start_line, row.end_line)
            yield Asked(f"{asked.text}:{line}", _around(sources, paths[0], line))


def _around(sources: Sources, path: str, line: int) -> frozenset[str]:
    """Return the innermost definitions at a line, or all of the file if none is there."""
    rows = sources.by_path[path]
    around = [row for row in rows if row.start_line <= line <= row.end_line]
    first = max((row.start_line for row in around), default=0)
    chosen = [row for row in around if row.start_line == first] or rows
    return frozenset(f"{path}:{row.start_line}:{row.qualified_name}" for row in chosen)


def _texts(pattern: re.Pattern[str]) -> Callable[[Sources, random.Random], Iterator[Asked]]:
    """Return a maker of queries from matches of a pattern; every second query is in double quotes."""

    def make(sources: Sources, dice: random.Random) -> Iterator[Asked]:
        paths = sorted(path for path in sources.texts if path in sources.by_path)
        found = [(path, match) for path in paths for match in pattern.finditer(sources.texts[path])]
        number = 0
        for path, match in dice.sample(found, len(found)):
            text = str(match[match.lastindex or 0]).strip()
            if not _is_prose(text) or sources.all_text.count(text) > 1:
                continue
            number += 1
            line = sources.texts[path].count("\n", 0, match.start(match.lastindex or 0)) + 1
            yield Asked(text if number % 2 else f'"{text}"', _around(sources, path, line))

    return make


def _is_prose(text: str) -> bool:
    words = sum(map(bool, map(_WORD.search, text.split())))
    return words >= _FEWEST_WORDS and text[0].isalnum() and '"' not in text


FORMS = {
    "name": _names(lambda _, row, number: row.name),
    "keyword": _names(_declared, of_kind=True),
    "where": _names(
        lambda _, row, number: (f"where is {row.name} defined", f"definition of {row.name}")[number % 2]
    ),
    "qualified": _qualified,
    "call": _names(lambda _, row, number: f"{row.name}()"),
    "kind": _names(lambda _, row, number: f"{row.name} {row.kind}", of_kind=True),
    "path": _paths(0),
    "suffix": _paths(2),
    "file": _paths(1),
    "line": _lines,
    "string": _texts(_STRING),
    "comment": _texts(_COMMENT),
}
"""Form -> makes its queries, in random order."""
