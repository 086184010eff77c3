"""Text -> lower-case subtokens, the way programmers compose names.

The one splitter that the corpus, the encoders and the keyword index share.
"""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W\d][\w$]*|\d+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


@lru_cache(maxsize=200_000)
def split_identifier(identifier: str) -> tuple[str, ...]:
    """Split one identifier at case changes, digits and underscores.

    >>> split_identifier("parseHTTPResponse2_xx")
    ('parse', 'http', 'response', '2', 'xx')
    >>> split_identifier("__init__")
    ('init',)
    """
    return tuple(part.lower() for part in _PART.findall(identifier))


def words(text: str) -> list[str]:
    """List the identifiers and numbers of a text in order.

    >>> words("x1 = foo_bar(42)")
    ['x1', 'foo_bar', '42']
    """
    return _WORD.findall(text)


def subtokens(text: str) -> list[str]:
    """List the subtokens of a text in order.

    >>> subtokens("def intToStr(i): # Convert 3 ints")
    ['def', 'int', 'to', 'str', 'i', 'convert', '3', 'ints']
    """
    return [part for word in _WORD.findall(text) for part in split_identifier(word)]
