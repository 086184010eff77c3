"""Turn answers of the engine into records of the API, with code as tokens to colour."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import groupby, islice, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from pygments.token import Token

import codesearch
from codesearch.engine.answer import Answer, answer_fields
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.errors import ConfigError, IndexNotFoundError, IndexStoreError
from codesearch.search.lookup import count_kinds, live_files
from codesearch.search.snippets import (
    MAX_COLOURED,
    SNIPPET_LINES,
    WITH_CODE,
    Marker,
    fitted,
    marker,
    passage_positions,
    snippet_lines,
    tokens_of,
)
from codesearch.settings import user_groups
from codesearch.store.catalogue import is_revision
from codesearch.store.segments import IndexReader
from codesearch.structure.places import find_file
from codesearch.structure.text import after_name, short_name
from codesearch.structure.whole import FileView, nested, view_file

_MAX_LINE = 2_000
"""Characters of a line that are shown."""
MOST = 2_000
"""Lines and definitions of a file in one answer. More would make the page slow."""
_KEPT, _MOST_KEPT = 512, 10_000
_OUTLINED = ("kind", "name", "qualified_name", "signature", "start_line", "end_line", "last_line")
_CLASS_OF = (
    (Token.Comment, "comment"),
    (Token.Keyword.Type, "type"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Operator, "operator"),
    (Token.Literal.Number, "number"),
    (Token.Literal, "string"),
    (Token.Name.Function, "function"),
    (Token.Name.Class, "type"),
    (Token.Name.Tag, "keyword"),
    (Token.Name.Builtin, "builtin"),
)

TokenLine = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code; a token is a class and a text, and true if it is a match of the query."""

    line: int
    text: str
    tokens: list[tuple[str, str] | tuple[str, str, bool]]


def answer_json(answer: Answer, screen: int = 0) -> dict[str, Any]:
    """Return what `codesearch query --json` prints, with labels of all definitions and the best lines of each hit.

    If the definitions fill a screen, a fifth of its rows has code. The first hits have all lines of their passages too.
    """
    mark = marker(answer.query, answer.mode)
    fields = answer_fields(answer)
    fields["freshness"] = [{**asdict(one), "note": one.note} for one in answer.freshness]
    chosen = [snippet_lines(hit, answer.query, answer.mode, SNIPPET_LINES) for hit in answer.hits]
    counts = fitted([len(best) for best in chosen], max(screen // 4, WITH_CODE)) if screen else None
    for at, (hit, entry, best) in enumerate(zip(answer.hits, fields["hits"], chosen, strict=True)):
        positions = sorted(best[: counts[at]] if counts else best)
        entry["snippet"] = token_lines(hit.code, hit.language, hit.start_line, positions, mark)
        if at < WITH_CODE:
            entry["more"] = token_lines(hit.code, hit.language, hit.start_line, passage_positions(hit), mark)
        for definition, of in zip((hit, *hit.others), (entry, *entry["others"]), strict=True):
            of["label"] = [short_name(definition) or hit.path, after_name(definition)]
    return fields


def outside_files(indexes: Sequence[IndexReader], answer: Answer, most: int) -> Iterator[dict[str, Any]]:
    """Yield the first files with an exact text outside of definitions, with the first lines there that have it."""
    mark = marker(answer.query, answer.mode)
    for (root, path), places in islice(groupby(answer.outside, itemgetter(0, 1)), most):
        numbers = [line for _, _, line in places]
        with suppress(IndexNotFoundError, IndexError):  # The file was removed or became shorter just now.
            view = view_file(find_file([index for index in indexes if index.manifest.root == root], path))
            positions = [number - 1 for number in numbers[:SNIPPET_LINES]]
            snippet = token_lines(view.source.replace("\r\n", "\n"), view.language, 1, positions, mark)
            yield {
                "root": root,
                "path": path,
                "start_line": numbers[0],
                "end_line": numbers[0],
                "outside": len(numbers),
                "snippet": snippet,
                "stale": view.stale,
            }


def list_folder(index: IndexReader, path: str) -> dict[str, Any]:
    """List a folder of an index."""
    start = f"{path.rstrip('/')}/" if path else ""
    paths = (file.path for _, file in live_files(index) if file.path.startswith(start))
    parts = [of_file.removeprefix(start).partition("/") for of_file in paths]
    folders, files = ({name for name, slash, _ in parts if bool(slash) == is_in} for is_in in (True, False))
    return {"folders": sorted(folders), "files": sorted(files)}


def show_file(view: FileView, first: int, last: int, mark: Marker) -> dict[str, Any]:
    """Return lines of a file from `first` to `last`, 0 for as many as are allowed, and the definitions there."""
    lines = view.source.removeprefix("\ufeff").replace("\r\n", "\n").removesuffix("\n").split("\n")
    last = min(last or len(lines), first + MOST - 1, len(lines))
    ends = (at for at, definition in enumerate(view.definitions) if definition.last_line >= first)
    start = min(next(ends, 0), max(len(view.definitions) - MOST, 0))
    depths = {definition: len(around) for around, definition in nested(view.definitions)}
    return {
        "root": view.root,
        "path": view.path,
        "language": view.language,
        "stale": view.stale,
        "line_count": len(lines),
        "lines": list(_file_lines(lines, view.language, range(first - 1, last), mark)),
        "definition_count": len(view.definitions),
        "definitions": [
            {**{name: getattr(definition, name) for name in _OUTLINED}, "depth": depths.get(definition, 0)}
            for definition in view.definitions[start : start + MOST]
        ],
    }


def _file_lines(lines: Sequence[str], language: str, chosen: range, mark: Marker) -> Iterator[Line]:
    for part in _parts(lines):
        if shown := range(max(part.start, chosen.start), min(part.stop, chosen.stop)):
            code = "\n".join(lines[part.start : part.stop])
            positions = (at - part.start for at in shown)
            yield from token_lines(code, language, part.start + 1, positions, mark)


def _parts(lines: Sequence[str]) -> Iterator[range]:
    """Yield parts of a file that are short enough to be coloured, or single longer lines."""
    start = size = 0
    for at, line in enumerate(lines):
        size += len(line) + 1
        if size > MAX_COLOURED and at > start:
            yield range(start, at)
            start, size = at, len(line) + 1
    yield range(start, len(lines))


def show_status(engine: Engine) -> dict[str, Any]:
    """Return what is indexed, with numbers of documents, and the groups of the settings."""
    groups: dict[str, tuple[Path, ...]] = {}
    with suppress(ConfigError):  # A search says what is wrong with the settings.
        groups = user_groups()
    roots, unfinished = [], {}
    for index in engine.status():
        if index.unfinished:
            unfinished[index.root] = index.unfinished
        if index.error or not index.manifest.commit or is_revision(engine.local_home(), index.root):
            continue
        # A search says which index cannot be read.
        session = engine.session(Scope((index.root,)), AS_INDEXED)
        with suppress(IndexStoreError), session.indexes() as (reader,):
            counts = {name: getattr(index, name) for name in ("root", "documents", "files", "languages")}
            roots.append({**counts, "kinds": count_kinds(reader)})
    paths = {name: list(map(str, folders)) for name, folders in groups.items()}
    return {"version": codesearch.__version__, "roots": roots, "unfinished": unfinished, "groups": paths}


def token_lines(code: str, language: str, first: int, chosen: Iterable[int], mark: Marker) -> list[Line]:
    """Return some lines with their numbers and tokens, cut after 2,000 characters.

    A token is a class, such as "keyword", and a text; a third value, true, says that it is a match of the query.
    Without a lexer, all text has the class "text".
    """
    texts = code.split("\n")
    lines = (_kept_lines if len(code) <= _MOST_KEPT else _lines)(code, language)
    return [_line(first + at, texts[at], lines[at], mark) for at in chosen]


def _line(number: int, text: str, tokens: TokenLine, mark: Marker) -> Line:
    if len(text) > _MAX_LINE:
        text = f"{text[:_MAX_LINE]}…"
        tokens = (("text", text),)
    return Line(number, text, list(_marked(tokens, mark(text))))


def _marked(
    tokens: TokenLine, spans: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, str] | tuple[str, str, bool]]:
    """Cut tokens at the edges of spans; those inside of a span are marked."""
    edges = [edge for span in spans for edge in span]
    end = 0
    for kind, text in tokens:
        start, end = end, end + len(text)
        cuts = [start, *edges[bisect_right(edges, start) : bisect_left(edges, end)], end]
        for cut, stop in pairwise(cuts):
            piece = (kind, text[cut - start : stop - start])
            yield (*piece, True) if bisect_right(edges, cut) % 2 else piece


def _lines(code: str, language: str) -> tuple[TokenLine, ...]:
    lines: list[list[tuple[str, str]]] = [[]]
    for token, text in tokens_of(code, language):
        kind = _class_of(token)
        for position, part in enumerate(text.split("\n")):
            if position:
                lines.append([])
            if part and lines[-1] and lines[-1][-1][0] == kind:
                lines[-1][-1] = (kind, lines[-1][-1][1] + part)
            elif part:
                lines[-1].append((kind, part))
    return tuple(map(tuple, lines))


_kept_lines = lru_cache(maxsize=_KEPT)(_lines)


def _class_of(kind: Any) -> str:  # noqa: ANN401 - Pygments has no type for tokens.
    return next((name for of, name in _CLASS_OF if kind in of), "text")
