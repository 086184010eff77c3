"""A hit and a query -> the few lines of the hit that match the query best."""

from __future__ import annotations

from collections import Counter

from codesearch.analysis.terms import query_terms, terms_of
from codesearch.types import Hit


def explaining_words(query: str, mode: str) -> str:
    """Return the words that explain a hit: the query, or nothing in mode "similar", where it is a path and a line."""
    return "" if mode == "similar" else query


def snippet_lines(hit: Hit, query: str, mode: str, count: int) -> list[int]:
    """Return the positions of up to `count` lines of a hit to show, ascending from 0: those that explain it best."""
    return best_lines(hit.code, explaining_words(query, mode), count)[:count] if hit.code else []


def best_lines(code: str, query: str, count: int) -> list[int]:
    r"""Return the positions of up to `count` lines, ascending from 0.

    The first line is always one of them, because it names the definition. The others contain the most terms of the
    query; a term counts less if many lines contain it. Among equal lines, earlier ones win. Empty lines never count.

    >>> best_lines("def load(path):\n    check(path)\n\n    with open(path) as file:\n        return file", "open", 2)
    [0, 3]
    """
    lines = code.split("\n")
    wanted = set(query_terms(query))
    found = {
        position: terms_of(line) & wanted
        for position, line in enumerate(lines)
        if position and any(character.isalnum() for character in line)
    }
    lines_with = Counter(term for terms in found.values() for term in terms)
    best = sorted(
        found, key=lambda position: (-sum(1 / lines_with[term] for term in found[position]), position)
    )
    return sorted([0, *best[: count - 1]])
