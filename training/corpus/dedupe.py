"""Detect functions that are the same, or nearly the same.

Two functions are the same if they share the words of the code, or the name and the first paragraph. They are nearly
the same if the sets of identifiers, keywords and numbers in the code have a Jaccard similarity of `JACCARD` or more,
estimated by MinHash.

*Source*: Allamanis 2018, The adverse effects of code duplication in machine learning models of code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from rensa import RMinHash, RMinHashLSH

from codesearch.parsing.identifiers import words

JACCARD = 0.8
PERMUTATIONS = 128
BANDS = 16
"""Bands of 8 rows each. A pair with similarity .8 becomes a candidate with probability .95, one with .5 with .06."""
_SEED = 1
_MAX_CHARS = 6_000
_MIN_DOCSTRING_WORDS = 4
_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The features by which functions are compared: the same if they share a key, similar by distinct tokens."""

    keys: tuple[bytes, ...]
    tokens: tuple[str, ...]


def fingerprint(language: str, identifier: str, paragraph: str, code: str) -> Fingerprint:
    """Fingerprint a function by its first 6,000 characters of code, and by its name and documentation."""
    head = code[:_MAX_CHARS]
    by_docstring = docstring_key(language, identifier, paragraph)
    keys = (code_key(language, head), *([by_docstring] if by_docstring else []))
    return Fingerprint(keys, tuple(set(_TOKEN.findall(head))))


def code_key(language: str, code: str) -> bytes:
    """Hash the words and numbers of a function, so that layout, punctuation and case do not count.

    >>> code_key("go", "f(a,  b)") == code_key("go", "F(a, b);")
    True
    """
    return _digest("code", language, " ".join(words(code[:_MAX_CHARS])).lower())


def docstring_key(language: str, identifier: str, paragraph: str) -> bytes | None:
    """Hash name and first paragraph, which small edits of a body do not change; None if they are too short."""
    found = words(paragraph)
    if not identifier or len(found) < _MIN_DOCSTRING_WORDS:
        return None
    return _digest("docstring", language, identifier, " ".join(found).lower())


class NearDuplicates:
    """A growing set of functions, to check whether another function is nearly the same as one of them.

    >>> seen = NearDuplicates()
    >>> seen.add(sketch_of("a b c d e f g h i j".split()))
    >>> seen.has(sketch_of("a b c d e f g h i k j".split())), seen.has(sketch_of("a b c".split()))
    (True, False)
    """

    def __init__(self) -> None:
        self._lsh = RMinHashLSH(JACCARD, PERMUTATIONS, BANDS)
        self._sketches: list[RMinHash] = []

    def has(self, sketch: RMinHash) -> bool:
        """Return whether a function is nearly the same as one that was added."""
        return any(self._sketches[index].jaccard(sketch) >= JACCARD for index in self._lsh.query(sketch))

    def add(self, sketch: RMinHash) -> None:
        """Add a function."""
        self._lsh.insert(len(self._sketches), sketch)
        self._sketches.append(sketch)


def sketch_of(tokens: Sequence[str]) -> RMinHash:
    """Sketch the set of distinct tokens of a function."""
    sketch = RMinHash(PERMUTATIONS, _SEED)
    sketch.update(list(tokens))
    return sketch


def _digest(*parts: str) -> bytes:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=10).digest()
