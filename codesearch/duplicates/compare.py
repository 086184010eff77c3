"""Two functions -> the estimated probability that they do the same.

The weights are a logistic regression over pairs that were written for it (`benchmarks/duplicates`), those with even
numbers. Words, operators and sizes added nothing on the pairs with odd numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Set

_CALL = re.compile(r"(\w+)\s*\(")
_COSINE, _CALLS, _BIAS = 5.9, 8.3, -6.9


def called_names(code: str) -> frozenset[str]:
    r"""Return the names before an opening bracket: what a function calls, and its own name.

    >>> sorted(called_names("def f(x):\n    return max(len(x), 1)"))
    ['f', 'len', 'max']
    """
    return frozenset(_CALL.findall(code))


def probability(cosine: float, one: Set[str], other: Set[str]) -> float:
    """Return the probability that two functions do the same."""
    shared = len(one & other) / max(1, len(one | other))
    return 1 / (1 + math.exp(-(_COSINE * cosine + _CALLS * shared + _BIAS)))
