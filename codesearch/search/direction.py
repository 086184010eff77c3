"""Which way a conversion goes: "int to string" must not be answered by `stringToInt`.

A query that names a source and a target is compared with what a document's name, signature and docstring say of
the same two. Words alone cannot tell the two ways apart, for both use all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codesearch.parsing.docstrings import first_paragraph
from codesearch.parsing.identifiers import subtokens

_PROSE_FORWARD = frozenset({"to", "into"})
_FORWARD = _PROSE_FORWARD | {"2", "as"}  # In prose "as" says too much else.
_BACKWARD = frozenset({"from"})
_PASSED_OVER = frozenset("a an the of its any given".split())
_NO_SOURCE = frozenset("how want need way try like able used function method convert parse".split())
_CONVERT = frozenset("convert converting conversion turn transform cast parse encode decode format".split())
_SHORT_QUERY = 3
_WINDOW = 3
_CANONICAL = {
    "int": "integer",
    "num": "integer",
    "number": "integer",
    "str": "string",
    "text": "string",
    "char": "character",
    "dict": "dictionary",
    "arr": "array",
    "bool": "boolean",
    "obj": "object",
}
_NAME_WEIGHT, _DOCSTRING_WEIGHT, _SIGNATURE_WEIGHT = 1.0, 1.0, 0.5
_PARAMETERS = re.compile(
    r"\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\)(?P<after>[^()]*|\s*\([^()]*\)\s*)$"
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a query wants to turn into what, in canonical words."""

    source: str
    target: str


def parse_conversion(query: str) -> Conversion | None:
    """Find the conversion that a query asks for, or None: it has a verb for it or is "source to target" alone.

    >>> parse_conversion("how to convert an int to a string")
    Conversion(source='integer', target='string')
    >>> parse_conversion("extract text from a web page") is None
    True
    """
    terms = _terms(query)
    if len(terms) > _SHORT_QUERY and _CONVERT.isdisjoint(terms):
        return None
    for position in range(1, len(terms) - 1):
        before, word, after = terms[position - 1 : position + 2]
        if word not in _FORWARD | _BACKWARD or before in _NO_SOURCE or before == after:
            continue
        return Conversion(after, before) if word in _BACKWARD else Conversion(before, after)
    return None


def agreement(conversion: Conversion, name: str, signature: str, docstring: str) -> float:
    """Say whether a document goes a conversion's way: from -1, the other way, over 0, silent, to 1.

    >>> wanted = Conversion("integer", "string")
    >>> agreement(wanted, "intToStr", "func intToStr(i int) string", "")
    1.0
    >>> agreement(wanted, "parse_int", "def parse_int(text)", "Convert a string to an int.")
    -1.0
    """
    total = (
        _NAME_WEIGHT * _name_evidence(conversion, _terms(name))
        + _DOCSTRING_WEIGHT * _phrase_evidence(conversion, _terms(first_paragraph(docstring)), _PROSE_FORWARD)
        + _SIGNATURE_WEIGHT * _signature_evidence(conversion, name, signature)
    )
    return max(-1.0, min(1.0, total))


def _terms(text: str) -> list[str]:
    return [_canonical(term) for term in subtokens(text) if term not in _PASSED_OVER]


def _canonical(term: str) -> str:
    if len(term) > 3 and term.endswith("s") and not term.endswith("ss"):
        term = term[:-1]
    return _CANONICAL.get(term, term)


def _phrase_evidence(
    conversion: Conversion, terms: Sequence[str], forward: frozenset[str] = _FORWARD
) -> float:
    """Look for "source to target", "target from source" and their opposites; the first one found speaks."""
    for position, word in enumerate(terms):
        if word in forward | _BACKWARD:
            left = terms[max(0, position - _WINDOW) : position]
            right = terms[position + 1 : position + 1 + _WINDOW]
            if word in _BACKWARD:
                left, right = right, left
            if conversion.source in left and conversion.target in right:
                return 1.0
            if conversion.target in left and conversion.source in right:
                return -1.0
    return 0.0


def _name_evidence(conversion: Conversion, terms: Sequence[str]) -> float:
    """Also understand names with one side only: `to_string`, `fromInt`, `parse_int`."""
    if evidence := _phrase_evidence(conversion, terms):
        return evidence
    for word, after in zip(terms, terms[1:], strict=False):
        if word in _FORWARD or word == "parse":
            return 0.5 if after == conversion.target else -0.5 if after == conversion.source else 0.0
        if word in _BACKWARD:
            return 0.5 if after == conversion.source else -0.5 if after == conversion.target else 0.0
    return 0.0


def _signature_evidence(conversion: Conversion, name: str, signature: str) -> float:
    """Compare what goes in with what comes out, where types or parameter names tell."""
    match = _PARAMETERS.search(signature)
    if match is None:
        return 0.0
    taken = _terms(match["parameters"])
    given = _terms(match["after"]) + _terms(signature[: match.start()].replace(name, " "))
    forward = (conversion.source in taken) - (conversion.target in taken)
    backward = (conversion.target in given) - (conversion.source in given)
    return max(-1.0, min(1.0, 0.5 * forward + 0.5 * backward))
