"""A query -> the conversion that it asks for: source and target, in canonical words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from codesearch.parsing.identifiers import split_identifier, words
from codesearch.text.words import expansions, singular

BACKWARD = frozenset({"from"})
BETWEEN = frozenset({"to", "into", "2", "as"}) | BACKWARD
_PASSED_OVER = frozenset("a an the its any given this that one".split())
_NO_SOURCE = frozenset("how want need way try like able used function method do i".split())
_CONVERT = frozenset(
    "convert converting conversion turn transform cast parse encode decode format serialize deserialize translate "
    "change".split()
)
_MAKE = frozenset("make create build construct".split())
_GET = "get"  # A conversion only with one word on each side; with more words it mostly asks for a part.
_OTHER_VERBS = frozenset(
    "add append copy move write save read send post put insert push export import upload download redirect connect "
    "bind attach join print log set extract remove delete load find search fill scroll go apply assign pass link "
    "compare subscribe listen scale resize reduce round limit return access call open close pop fetch select run "
    "execute use treat mark login merge jump upgrade migrate fallback represent".split()
)
_VERSION = re.compile(r"\b(python|java|php)\s?\d\b", re.IGNORECASE)  # The 2 of a version does not mean "to".
_ENDS = frozenset("in with using by for and or on if when without via".split())
_LANGUAGES = frozenset(
    "python java javascript js typescript golang php ruby rails jquery numpy pandas".split()
)
_LONGEST_SIDE = 3
_CANONICAL = {
    "number": "integer",
    "long": "integer",
    "text": "string",
    "hash": "dictionary",
    "hexadecimal": "hex",
    "colour": "color",
    "deg": "degree",
    "rad": "radian",
    "bin": "binary",
    "km": "kilometer",
    "kilometre": "kilometer",
    "cm": "centimeter",
    "mm": "millimeter",
    "kg": "kilogram",
    "lb": "pound",
    "lbs": "pound",
    "usd": "dollar",
    "eur": "euro",
    "lat": "latitude",
    "lon": "longitude",
    "lng": "longitude",
}


@dataclass(frozen=True)
class Conversion:
    """Source and target of a conversion: up to three canonical words each."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    @cached_property
    def only_source(self) -> frozenset[str]:
        """Words of the source that are not in the target."""
        return frozenset(self.source) - frozenset(self.target)

    @cached_property
    def only_target(self) -> frozenset[str]:
        """Words of the target that are not in the source."""
        return frozenset(self.target) - frozenset(self.source)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(
            word[:end] for word in (*self.source, *self.target) for end in range(1, len(word) + 1)
        )

    def leaning(self, terms: Sequence[str]) -> float:
        """Return which side some canonical terms belong to: from 1 for the source to -1 for the target, 0 for neither.

        >>> Conversion(("local", "date"), ("date",)).leaning(["date"])
        -1.0
        """
        # Return early for most texts: no term is a word of the two sides, or the beginning of one.
        if self._beginnings.isdisjoint(terms):
            return 0.0
        found = {*terms, *(first + second for first, second in zip(terms, terms[1:], strict=False))}
        of_source = _share(found, self.only_source, self.source, self.only_target)
        return of_source - _share(found, self.only_target, self.target, self.only_source)


def _share(found: set[str], own: Collection[str], side: Collection[str], other: Collection[str]) -> float:
    """Return the share of a side's own words that were found.

    A side without own words is found if one of its words occurs and no word that only the other side has.
    """
    if own:
        return len(found.intersection(own)) / len(own)
    return float(found.isdisjoint(other) and not found.isdisjoint(side))


def canonical_terms(text: str) -> list[str]:
    """List the canonical terms of a text: singular, with abbreviations expanded and some synonyms unified.

    >>> canonical_terms("numToStrs(the_dict)")
    ['integer', 'to', 'string', 'dictionary']
    """
    return [term for word in words(text) for term in _canonical_terms_of(word)]


@lru_cache(maxsize=1 << 16)
def _canonical_terms_of(word: str) -> tuple[str, ...]:
    return tuple(_canonical(term) for term in split_identifier(word) if term not in _PASSED_OVER)


def _canonical(term: str) -> str:
    """Return the canonical form of a lower-case term."""
    term = singular(term)
    term = expansions().get(term, term)
    return _CANONICAL.get(term, term)


def parse_conversion(query: str) -> Conversion | None:
    """Return the conversion that a query asks for, or None; the query has a verb for it or is only "source to target".

    >>> parse_conversion("how to convert an int to a hex string")
    Conversion(source=('integer',), target=('hex', 'string'))
    >>> parse_conversion("extract text from a web page") is None
    True
    """
    terms = [term for term in canonical_terms(_VERSION.sub(r"\1", query)) if term not in _LANGUAGES]
    for position in range(1, len(terms) - 1):
        word = terms[position]
        if word not in BETWEEN or terms[position - 1] in _NO_SOURCE | _CONVERT:
            continue
        start, left = _side_before(terms, position)
        end, right = _side_after(terms, position)
        if not left or not right or set(left) == set(right):
            continue
        if not _asks(terms[:position], word, left, right) and (start > 0 or end < len(terms)):
            return None
        return Conversion(right, left) if word in BACKWARD else Conversion(left, right)
    return None


def _asks(before: Sequence[str], word: str, left: Sequence[str], right: Sequence[str]) -> bool:
    """Say whether a verb before "to" or "from" asks for a conversion."""
    if word in BACKWARD and not _MAKE.isdisjoint(before):
        return True
    if word in BACKWARD and _GET in before:
        return len(left) == len(right) == 1
    return not _CONVERT.isdisjoint(before)


def _side_before(terms: Sequence[str], position: int) -> tuple[int, tuple[str, ...]]:
    """Return the words before a position and where they start; stop at a word that cannot be part of a noun phrase."""
    start = position
    stops = BETWEEN | _NO_SOURCE | _CONVERT | _MAKE | {_GET} | _OTHER_VERBS | _ENDS
    while start > 0 and position - start < _LONGEST_SIDE and terms[start - 1] not in stops:
        start -= 1
    return start, tuple(term for term in terms[start:position] if term != "of")


def _side_after(terms: Sequence[str], position: int) -> tuple[int, tuple[str, ...]]:
    end = position + 1
    while end < len(terms) and end - position <= _LONGEST_SIDE and terms[end] not in BETWEEN | _ENDS:
        end += 1
    return end, tuple(term for term in terms[position + 1 : end] if term != "of")
