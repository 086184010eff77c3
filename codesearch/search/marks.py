"""A line of code and the terms of a query -> the places of the line to mark."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from codesearch.analysis.terms import terms_of
from codesearch.parsing.identifiers import subtoken_spans


def marks(line: str, terms: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return start and end of the words of a line that have one of some terms, as `query_terms` returns them.

    A part of an identifier is marked alone. Words are compared as the keyword index compares them, so inflections and
    abbreviations match.

    >>> from codesearch.analysis.terms import query_terms
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
