"""Code -> lines of tokens: pairs of a class, such as "keyword", and a text. Without a lexer, all text is "text"."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound

CLASSES = ("keyword", "type", "function", "builtin", "string", "number", "comment", "operator", "text")
_MAX_CHARACTERS = 60_000
"""Longer code is not coloured, because a lexer reads about 1 MB/s."""
_KEPT = 512
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


def token_lines(code: str, language: str, first: int, chosen: Iterable[int]) -> list[dict[str, Any]]:
    """Return some lines with their numbers and tokens.

    Args:
        code: the lines.
        language: of the code.
        first: number of the first line.
        chosen: positions of lines, from 0.
    """
    texts, lines = code.split("\n"), _lines(code, language)
    return [
        {"line": first + at, "text": texts[at], "tokens": [list(token) for token in lines[at]]}
        for at in chosen
    ]


@lru_cache(maxsize=_KEPT)
def _lines(code: str, language: str) -> tuple[TokenLine, ...]:
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, text in _tokens(code, language):
        for position, part in enumerate(text.split("\n")):
            if position:
                lines.append([])
            if part and lines[-1] and lines[-1][-1][0] == kind:
                lines[-1][-1] = (kind, lines[-1][-1][1] + part)
            elif part:
                lines[-1].append((kind, part))
    return tuple(map(tuple, lines))


def _tokens(code: str, language: str) -> Iterable[tuple[str, str]]:
    # A lexer replaces other ends of lines by "\n", so the lines would not match.
    if len(code) > _MAX_CHARACTERS or "\r" in code or "\ufeff" in code:
        return [("text", code)]
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [("text", code)]
    return [(_class_of(kind), text) for kind, text in lexer.get_tokens(code)]


def _class_of(kind: Any) -> str:  # noqa: ANN401 - Pygments has no type for tokens.
    return next((name for of, name in _CLASS_OF if kind in of), "text")
