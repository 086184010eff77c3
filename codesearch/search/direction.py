"""The direction of a conversion: `stringToInt` does not answer "int to string".

`stringToInt` and `intToString` both contain all words of the query. The direction comes from the name, the signature,
the documentation tags and the verbs of a document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from codesearch.parsing.docstrings import first_paragraph
from codesearch.search.conversion import BACKWARD, BETWEEN, Conversion, canonical_terms

_NAME_WEIGHT, _SIGNATURE_WEIGHT, _VERB_WEIGHT = 1.0, 0.5, 0.5
_PARAMETERS = re.compile(
    r"\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\)(?P<after>[^()]*|\s*\([^()]*\)\s*)$"
)
_RECEIVER = re.compile(r"func\s*\(([^()]*)\)")
_FUSED = re.compile(r"([a-z]+)to([a-z]+)")
_MAKES = re.compile(r"([a-z]{3,})(?:ize|ise|ify)[sd]?")
_TAKEN_TAG = re.compile(r"^\s*[@:]param\b(.*)", re.MULTILINE)
_GIVEN_TAG = re.compile(r"^\s*[@:]r?returns?\b(.*)", re.MULTILINE)

_ENCODES = frozenset("encode serialize marshal dump format stringify strftime pack render print".split())
_DECODES = frozenset("decode deserialize unmarshal load parse unpack scan strptime".split())
_WIRE_FORMATS = frozenset("json xml yaml csv base64 base 64 hex query url html toml".split())
_TEXTS = frozenset({"string"})
_BYTES = frozenset({"byte", "binary", "blob"})


def agreement(conversion: Conversion, name: str, signature: str, docstring: str) -> float:
    """Return how well a document's direction matches: 1 for the same direction, 0 for unknown, -1 for the opposite.

    >>> wanted = Conversion(("integer",), ("string",))
    >>> agreement(wanted, "intToStr", "func intToStr(i int) string", "")
    1.0
    >>> agreement(wanted, "parse_int", "def parse_int(text)", "Convert a string to an int.")
    -0.75
    """
    terms, prose = canonical_terms(name), canonical_terms(first_paragraph(docstring))
    total = (
        _NAME_WEIGHT * _name_agreement(conversion, terms)
        + _SIGNATURE_WEIGHT * _signature_agreement(conversion, name, signature, docstring)
        + _VERB_WEIGHT * _verb_agreement(conversion, [*terms[:1], *prose[:1]])
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
    return -conversion.leaning(terms) / 2 if _is_side(conversion, terms) else 0.0


def _is_side(conversion: Conversion, terms: Sequence[str]) -> bool:
    """Say whether a name consists of one side alone; such a function is usually named after what it returns."""
    return any(set(terms) == set(side) for side in (conversion.source, conversion.target))


def _abbreviated(conversion: Conversion, terms: Sequence[str]) -> float:
    """Return the leaning of terms; a single unknown term may also be an abbreviation of a side or its initials."""
    if (leaning := conversion.leaning(terms)) or len(terms) != 1:
        return leaning
    short = "s" if terms[0] == "a" else terms[0]  # The `a` of atoi and ntoa stands for ASCII.
    sides = [
        "".join(word[0] for word in side) == terms[0]
        or any(word.startswith(short) or word.startswith(terms[0]) for word in only)
        for side, only in (
            (conversion.source, conversion.only_source),
            (conversion.target, conversion.only_target),
        )
    ]
    return float(sides[0]) - float(sides[1])


def _between(left: float, right: float) -> float:
    """Return the agreement of the two sides of "to"; 0 unless one is the source and the other the target."""
    return (left - right) / 2 if left * right < 0 else 0.0


def _signature_agreement(conversion: Conversion, name: str, signature: str, docstring: str) -> float:
    """Return the agreement of input and output, as types, parameter names and documentation tags describe them."""
    taken = _tagged(_TAKEN_TAG, docstring) if "param" in docstring else []
    given = _tagged(_GIVEN_TAG, docstring) if "return" in docstring else []
    if receiver := _RECEIVER.match(signature):
        taken = canonical_terms(receiver[1]) + taken
        signature = signature[receiver.end() :]
    if match := _PARAMETERS.search(signature):
        taken = canonical_terms(match["parameters"]) + taken
        given = (
            canonical_terms(match["after"])
            + canonical_terms(signature[: match.start()].replace(name, " "))
            + given
        )
    return (_sign(conversion.leaning(taken)) - _sign(conversion.leaning(given))) / 2


def _tagged(tag: re.Pattern[str], docstring: str) -> list[str]:
    return [term for text in tag.findall(docstring) for term in canonical_terms(text)]


def _sign(value: float) -> float:
    return float(value > 0) - float(value < 0)


def _verb_agreement(conversion: Conversion, verbs: Sequence[str]) -> float:
    """Return whether the verb of a name or its documentation encodes or decodes as the query asks."""
    encodes = not _ENCODES.isdisjoint(verbs)
    decodes = not _DECODES.isdisjoint(verbs)
    return (float(encodes) - float(decodes)) * _encodedness(conversion) if encodes != decodes else 0.0


def _encodedness(conversion: Conversion) -> float:
    """Return 1 if the target is an encoded form of the source, -1 for the opposite, 0 if neither is."""
    for form in (_WIRE_FORMATS, _BYTES, _TEXTS):
        source = not form.isdisjoint(conversion.source)
        target = not form.isdisjoint(conversion.target)
        if source != target:
            return 1.0 if target else -1.0
    return 0.0
