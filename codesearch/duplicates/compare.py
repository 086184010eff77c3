"""Two functions -> the estimated probability that they do the same."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass

from codesearch.analysis.terms import terms_of

_MARK = re.compile(
    r"[^\s\w\"'`#/,;:.(){}]+|\b(?:if|else|elif|for|while|return|try|catch|except|raise|throw|new|break)\b"
)


@dataclass(frozen=True, slots=True)
class Features:
    """What is compared of a function.

    Attributes:
        words: the terms of its code, its name included.
        names: the terms of its name.
        marks: how often operators and keywords of control flow occur in it.
        size: number of characters without white space.
    """

    words: Set[str]
    names: Set[str]
    marks: Counter[str]
    size: int


def features_of(code: str, name: str) -> Features:
    """Return what is compared of a function with a qualified name."""
    own = re.split(r"\W+", name)[-1]
    return Features(terms_of(code), terms_of(own), Counter(_MARK.findall(code)), len("".join(code.split())))


def probability(one: Features, other: Features, cosine: float) -> float:
    """Return the probability that two functions do the same; `cosine` is that of their vectors."""
    size = abs(math.log(one.size / other.size))
    score = (
        -9 + 9 * cosine + 3 * _overlap(one.words, other.words) + 2 * _overlap(one.names, other.names) - size
    )
    return 1 / (1 + math.exp(-score))


def _overlap(one: Set[str], other: Set[str]) -> float:
    return len(one & other) / max(1, len(one | other))
