"""The direction of a conversion: `stringToInt` does not answer "int to string".

`stringToInt` and `intToString` both contain all words of the query. A query asks for a conversion from a source to a
target, both in canonical words. The direction of a document comes from its name and its signature.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile

from codesearch.parsing.identifiers import split_identifier, words
from codesearch.text.terms import expansions, singular

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
_ENDS = frozenset("in with using by for and or on if when without via".split())
_NOT_BEFORE = BETWEEN | _NO_SOURCE | _CONVERT | _MAKE | {_GET} | _OTHER_VERBS | _ENDS
_LANGUAGES = frozenset(
    "python java javascript js typescript golang php ruby rails jquery numpy pandas".split()
)
_LONGEST_SIDE = 3
_SYNONYMS = (
    "number:integer long:integer text:string hash:dictionary hexadecimal:hex colour:color deg:degree "
    "rad:radian bin:binary km:kilometer kilometre:kilometer cm:centimeter mm:millimeter kg:kilogram lb:pound "
    "lbs:pound usd:dollar eur:euro lat:latitude lon:longitude lng:longitude"
)
_CANONICAL = dict(synonym.split(":") for synonym in _SYNONYMS.split())


@dataclass(frozen=True, slots=True)
class Conversion:
    """Source and target of a conversion: up to three canonical words each."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    def leaning(self, terms: Sequence[str]) -> float:
        """Return which side some canonical terms belong to: from 1 for the source to -1 for the target, 0 for neither.

        >>> Conversion(("local", "date"), ("date",)).leaning(["date"])
        -1.0
        """
        found = {*terms, *(first + second for first, second in zip(terms, terms[1:], strict=False))}
        return _share(found, self.source, self.target) - _share(found, self.target, self.source)


def _share(found: set[str], side: Collection[str], other: Collection[str]) -> float:
    """Return the share of a side's own words that were found.

    A side without own words is found if one of its words occurs and no word that only the other side has.
    """
    if own := set(side).difference(other):
        return len(found & own) / len(own)
    return float(found.isdisjoint(set(other).difference(side)) and not found.isdisjoint(side))


def canonical_terms(text: str) -> list[str]:
    """List the canonical terms of a text: singular, with abbreviations expanded and some synonyms unified.

    >>> canonical_terms("numToStrs(the_dict)")
    ['integer', 'to', 'string', 'dictionary']
    """
    return [term for word in words(text) for term in _canonical_terms_of(word)]


@lru_cache(maxsize=1 << 16)
def _canonical_terms_of(word: str) -> tuple[str, ...]:
    terms = [singular(term) for term in split_identifier(word) if term not in _PASSED_OVER]
    whole = (expansions().get(term, term) for term in terms)
    return tuple(_CANONICAL.get(term, term) for term in whole)


def parse_conversion(query: str) -> Conversion | None:
    """Return the conversion that a query asks for, or None; the query has a verb for it or is only "source to target".

    >>> parse_conversion("how to convert an int to a hex string")
    Conversion(source=('integer',), target=('hex', 'string'))
    >>> parse_conversion("extract text from a web page") is None
    True
    """
    terms = [term for term in canonical_terms(query) if term not in _LANGUAGES]
    for position in range(1, len(terms) - 1):
        word = terms[position]
        if word not in BETWEEN or terms[position - 1] in _NO_SOURCE | _CONVERT:
            continue
        before, left = _side(terms[position - 1 :: -1], _NOT_BEFORE)
        after, right = _side(terms[position + 1 :], BETWEEN | _ENDS)
        left = left[::-1]
        if not left or not right or set(left) == set(right):
            continue
        is_all = before == position and position + 1 + after == len(terms)
        if not _asks(terms[:position], word, left, right) and not is_all:
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


def _side(terms: Iterable[str], stops: Set[str]) -> tuple[int, tuple[str, ...]]:
    """Return how many terms stand before a word that is no part of a noun phrase, at most three, and the terms."""
    side = list(islice(takewhile(lambda term: term not in stops, terms), _LONGEST_SIDE))
    return len(side), tuple(term for term in side if term != "of")


_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in pair.split(":"))
    for pair in (
        "read load parse decode deserialize unmarshal:write save dump format encode serialize marshal",
        "compress zip gzip deflate archive pack:extract unzip gunzip decompress uncompress inflate unpack",
        "get:set",
        "encrypt:decrypt",
        "escape quote:unescape unquote",
        "add insert push append:remove delete pop",
        "open connect start enable show lock:close disconnect stop disable hide unlock",
        "upload:download",
        "import:export",
    )
)
"""Verbs that mean the opposite of each other."""


Opposition = tuple[frozenset[str], frozenset[str]]
"""Verbs that mean what a query asks for, and their opposites."""


def opposition(query: str) -> Opposition | None:
    """Return the verbs that mean what a query asks for, and their opposites, or None.

    >>> opposition("how do I unzip a file")[0] >= {"extract", "unzip"}, opposition("read and write a file")
    (True, None)
    """
    terms = set(canonical_terms(query))
    for first, second in _OPPOSITES:
        if terms.isdisjoint(first) != terms.isdisjoint(second):
            return (second, first) if terms.isdisjoint(first) else (first, second)
    return None


_SIGNATURE_WEIGHT, _VERB_WEIGHT = 0.5, 0.5
"""The weight of the name is 1."""
_PARAMETERS = re.compile(
    r"\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\)(?P<after>[^()]*|\s*\([^()]*\)\s*)$"
)
_RECEIVER = re.compile(r"func\s*\(([^()]*)\)")
_FUSED = re.compile(r"([a-z]+)to([a-z]+)")
_MAKES = re.compile(r"([a-z]{3,})(?:ize|ise|ify)[sd]?")

_ENCODES = frozenset("encode serialize marshal dump format stringify strftime pack render print".split())
_DECODES = frozenset("decode deserialize unmarshal load parse unpack scan strptime".split())
_WIRE_FORMATS = frozenset("json xml yaml csv base64 base 64 hex query url html toml".split())
_TEXTS = frozenset({"string"})
_BYTES = frozenset({"byte", "binary", "blob"})


def agreement(conversion: Conversion, name: str, signature: str) -> float:
    """Return how well a document's direction matches: 1 for the same direction, 0 for unknown, -1 for the opposite.

    >>> wanted = Conversion(("integer",), ("string",))
    >>> agreement(wanted, "intToStr", "func intToStr(i int) string")
    1.0
    >>> agreement(wanted, "parse_int", "def parse_int(text)")
    -0.75
    """
    terms = canonical_terms(name)
    total = (
        _name_agreement(conversion, terms)
        + _SIGNATURE_WEIGHT * _signature_agreement(conversion, name, signature)
        + _VERB_WEIGHT * _verb_agreement(conversion, terms[:1])
    )
    return max(-1.0, min(1.0, total))


def _name_agreement(conversion: Conversion, terms: Sequence[str]) -> float:
    """Return the agreement of a name with both sides (`intToStr`, `ctof`), one (`to_string`) or a verb (`camelize`)."""
    for position, word in enumerate(terms):
        if word in BETWEEN:
            left = _abbreviated(conversion, terms[:position])
            right = _abbreviated(conversion, terms[position + 1 :])
            evidence = _between(left, right) or -right / 2 or left / 2
            return -evidence if word in BACKWARD else evidence
        if fused := _FUSED.fullmatch(word):
            sides = [_abbreviated(conversion, [side]) for side in fused.groups()]
            if evidence := _between(*sides):
                return evidence
        if made := _MAKES.fullmatch(word):
            return -_abbreviated(conversion, [made[1]]) / 2
    # A function with the name of one side alone usually returns that.
    is_side = set(terms) in (set(conversion.source), set(conversion.target))
    return -conversion.leaning(terms) / 2 if is_side else 0.0


def _abbreviated(conversion: Conversion, terms: Sequence[str]) -> float:
    """Return the leaning of terms; a single unknown term may also be an abbreviation of a side or its initials."""
    if (leaning := conversion.leaning(terms)) or len(terms) != 1:
        return leaning
    (short,) = terms
    source, target = conversion.source, conversion.target
    is_source, is_target = (
        "".join(word[0] for word in side) == short
        or any(word.startswith(short) for word in set(side).difference(other))
        for side, other in ((source, target), (target, source))
    )
    return float(is_source) - float(is_target)


def _between(left: float, right: float) -> float:
    """Return the agreement of the two sides of "to"; 0 unless one is the source and the other the target."""
    return (left - right) / 2 if left * right < 0 else 0.0


def _signature_agreement(conversion: Conversion, name: str, signature: str) -> float:
    """Return the agreement of input and output, as types and parameter names describe them."""
    taken: list[str] = []
    given: list[str] = []
    if receiver := _RECEIVER.match(signature):
        taken = canonical_terms(receiver[1])
        signature = signature[receiver.end() :]
    if match := _PARAMETERS.search(signature):
        taken += canonical_terms(match["parameters"])
        given = canonical_terms(match["after"])
        given += canonical_terms(signature[: match.start()].replace(name, " "))
    return (_sign(conversion.leaning(taken)) - _sign(conversion.leaning(given))) / 2


def _sign(value: float) -> float:
    return float(value > 0) - float(value < 0)


def _verb_agreement(conversion: Conversion, verbs: Sequence[str]) -> float:
    """Return whether the verb of a name encodes or decodes as the query asks."""
    encodes = not _ENCODES.isdisjoint(verbs)
    decodes = not _DECODES.isdisjoint(verbs)
    for form in (_WIRE_FORMATS, _BYTES, _TEXTS):
        # One of the sides is an encoded form of the other.
        source = not form.isdisjoint(conversion.source)
        target = not form.isdisjoint(conversion.target)
        if source != target:
            return (float(encodes) - float(decodes)) * (1.0 if target else -1.0)
    return 0.0
