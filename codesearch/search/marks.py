"""What is marked in lines of code: the words of a query, and tokens with colours."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from codesearch.parsing.identifiers import subtoken_spans
from codesearch.text.terms import terms_of

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MAX_COLOURED = 60_000
"""Characters of code that are coloured, because a lexer reads about 1 MB/s."""
_PAGES = ("html", "svelte", "vue")


def marks(line: str, terms: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return start and end of the words of a line that have one of some terms, as `query_terms` returns them.

    A part of an identifier is marked alone. Words are compared as the keyword index compares them, so inflections and
    abbreviations match.

    >>> from codesearch.text.terms import query_terms
    >>> line = "def parse_ints(texts): return intList"
    >>> [line[start:end] for start, end in marks(line, set(query_terms("parsing an integer")))]
    ['parse', 'ints', 'int']
    """
    found: list[tuple[int, int]] = []
    for start, end in subtoken_spans(line) if terms else ():
        if terms.isdisjoint(terms_of(line[start:end])):
            continue
        if found and found[-1][1] == start:
            start = found.pop()[0]
        found.append((start, end))
    return found


def lexer_of(code: str, language: str) -> Lexer | None:
    """Return a lexer that keeps the lines of some code, or None if there is none for its language."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    name = "ocaml" if language == "ocamli" else language
    if language in _PAGES:  # A hit in a page is a part of its scripts.
        name = "html" if code.lstrip().startswith("<") else "typescript"
    try:
        # A part of a PHP file may have no opening tag.
        return get_lexer_by_name(name, startinline="<?" not in code, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
