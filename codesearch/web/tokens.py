"""Code -> lines of tokens to colour, with the matches of a query marked."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from pygments.token import Token

from codesearch.search.snippets import MAX_COLOURED, Marker, tokens_of

_MAX_LINE = 2_000
"""Characters of a line that are shown."""
_KEPT, _MOST_KEPT = 512, 10_000
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


def token_lines(code: str, language: str, first: int, chosen: Iterable[int], mark: Marker) -> list[Line]:
    """Return some lines with their numbers and tokens, cut after 2,000 characters.

    A token is a class, such as "keyword", and a text; a third value, true, says that it is a match of the query.
    Without a lexer, all text has the class "text".
    """
    texts = code.split("\n")
    lines = (_kept_lines if len(code) <= _MOST_KEPT else _lines)(code, language)
    return [_line(first + at, texts[at], lines[at], mark) for at in chosen]


def plain_lines(lines: Sequence[str], chosen: range) -> Iterator[Line]:
    """Yield some lines of a file; their only token has the class "plain"."""
    for at in chosen:
        yield _line(at + 1, lines[at], (("plain", lines[at]),), lambda _: [])


def file_lines(
    lines: Sequence[str], language: str, starts: Set[int], chosen: range, mark: Marker
) -> Iterator[Line]:
    """Yield some lines of a file, whose positions begin at 0, as those of the `starts` of its definitions."""
    for part in _parts(lines, starts):
        if shown := range(max(part.start, chosen.start), min(part.stop, chosen.stop)):
            code = "\n".join(lines[part.start : part.stop])
            positions = (at - part.start for at in shown)
            yield from token_lines(code, language, part.start + 1, positions, mark)


def _parts(lines: Sequence[str], starts: Set[int]) -> Iterator[range]:
    """Yield parts of a file that are short enough to be coloured, or single longer lines.

    A part ends before a definition if it can: elsewhere the next one might begin inside of a string.
    """
    start = size = cut = 0
    for at, line in enumerate(lines):
        cut = at if at in starts else cut
        size += len(line) + 1
        while size > MAX_COLOURED and at > start:
            end = cut if cut > start else at
            yield range(start, end)
            start, size = end, sum(len(text) + 1 for text in lines[end : at + 1])
    yield range(start, len(lines))


def _line(number: int, text: str, tokens: TokenLine, mark: Marker) -> Line:
    if len(text) > _MAX_LINE:
        text = f"{text[:_MAX_LINE]}…"
        tokens = ((tokens[0][0] if len(tokens) == 1 else "text", text),)
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
