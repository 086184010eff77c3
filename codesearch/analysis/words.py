"""Two word lists that help queries match the names in code.

`abbreviations.txt` maps abbreviations to words: "str" in a name matches "string" in a query. Each line contains a word
and its abbreviations.
`compounds.txt` splits names that are written as one word: "copy a tree" finds `copytree`. Each line contains a
compound and its words. The command `python -m training corpus compounds` made the list from a corpus.
In both files, a line that begins with `#` is a comment.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import resources


@cache
def expansions() -> dict[str, str]:
    """Read the dictionary abbreviation -> word.

    >>> expansions()["idx"], "index" in expansions()
    ('index', False)
    """
    return {
        abbreviation: word
        for word, *abbreviations in _lines("abbreviations")
        for abbreviation in abbreviations
    }


@cache
def compounds() -> dict[str, tuple[str, ...]]:
    """Read the dictionary compound -> words.

    >>> compounds()["filename"], "password" in compounds()
    (('file', 'name'), False)
    """
    return {compound: tuple(words) for compound, *words in _lines("compounds")}


def _lines(name: str) -> Iterator[list[str]]:
    text = resources.files("codesearch.analysis").joinpath(f"{name}.txt").read_text("utf-8")
    return (line.split() for line in text.splitlines() if not line.startswith("#"))
