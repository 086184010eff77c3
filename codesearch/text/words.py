"""Words that count as equal in a search: inflections, abbreviations and the parts of compounds.

`base_form` is the form that a word shares with its plural, `-ed` and `-ing`: a docstring says "Converts strings" and a
query says "convert string". The form is only compared; it need not be a word. Endings that derive another word
(`parser`, `connection`) stay, because they distinguish functions.

Two lists help queries match the names in code.

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

_SHORTEST = 4
_PLURALS = {"ies": "y", "sses": "ss", "xes": "x", "ches": "ch", "shes": "sh"}
_NO_PLURALS = ("ss", "us", "is")
_VOWELS = frozenset("aeiouy")


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
    text = resources.files("codesearch.text").joinpath(f"{name}.txt").read_text("utf-8")
    return (line.split() for line in text.splitlines() if not line.startswith("#"))


def base_form(term: str) -> str:
    """Return the form that a lower-case term shares with its inflections; short terms and those with digits stay.

    >>> [base_form(term) for term in ("parse", "parses", "parsed", "parsing", "parser")]
    ['pars', 'pars', 'pars', 'pars', 'parser']
    >>> [base_form(term) for term in ("queries", "indexes", "mapped", "class", "string")]
    ['query', 'index', 'map', 'class', 'string']
    """
    if len(term) < _SHORTEST or not term.isalpha():
        return term
    if term.endswith("ied"):
        return f"{term[:-3]}y"
    term = singular(term)
    for ending in ("ing", "ed"):
        rest = term.removesuffix(ending)
        if rest != term and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            return _without_e(_undoubled(rest))
    return _without_e(term)


def singular(term: str) -> str:
    """Return a lower-case noun without the ending of its plural.

    >>> [singular(term) for term in ("strings", "entries", "indexes", "class", "status", "ids")]
    ['string', 'entry', 'index', 'class', 'status', 'ids']
    """
    if len(term) < _SHORTEST:
        return term
    for ending, instead in _PLURALS.items():
        if term.endswith(ending):
            return term.removesuffix(ending) + instead
    return term[:-1] if term.endswith("s") and not term.endswith(_NO_PLURALS) else term


def _undoubled(stem: str) -> str:
    """Remove the consonant that an ending doubled; keep `ll`, `ss` and `zz`, which words often end in (`calling`)."""
    doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz"
    return stem[:-1] if doubled else stem


def _without_e(term: str) -> str:
    return term[:-1] if term.endswith("e") and len(term) > _SHORTEST else term
