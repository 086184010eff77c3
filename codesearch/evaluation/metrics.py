"""A run and its judgements -> numbers in [0, 1], higher is better. Pure functions over plain values.

Each takes the doc_ids that a system found for one query, best first and none twice, and the grades of the documents
that were judged for it. A document without a grade is not relevant.

If every document has a score and one is right, `ranks` gives the rank of the right one for many queries at once.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

DEPTH = 300
"""Results per query that CodeSearchNet's evaluation reads."""


def ndcg(run: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """Return NDCG with gain 2^grade - 1 and discount log2(rank + 1).

    The ideal ranking has every judged document, even one that is not in the corpus. Grades may be fractions, because
    they are means over annotators.

    *Source*: Järvelin and Kekäläinen 2002, with the gain of Burges et al. 2005; as in Husain et al. 2019.

    Raises:
        ValueError: no grade is above 0.

    >>> round(ndcg(["b", "x", "a"], {"a": 3, "b": 1}), 4)
    0.5897
    """
    ideal = _discounted(sorted(grades.values(), reverse=True))
    if not ideal:
        raise ValueError("a query without a relevant document has no NDCG")
    return _discounted(grades.get(document, 0.0) for document in run[:depth]) / ideal


def ndcg_within(run: Sequence[str], grades: Mapping[str, float], depth: int = DEPTH) -> float:
    """Return the NDCG of the first `depth` documents after those without a judgement are removed.

    >>> ndcg_within(["x", "a", "y", "b"], {"a": 3, "b": 1})
    1.0
    """
    return ndcg([document for document in run[:depth] if document in grades], grades, depth)


def recall_at_k(run: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Return the share of the relevant documents (grade above 0) among the first `k`.

    Raises:
        ValueError: none is relevant.

    >>> recall_at_k(["x", "a", "b"], {"a": 3, "b": 1, "c": 0}, 2)
    0.5
    """
    relevant = {document for document, grade in grades.items() if grade > 0}
    if not relevant:
        raise ValueError("a query without a relevant document has no recall")
    return len(relevant.intersection(run[:k])) / len(relevant)


def reciprocal_rank(run: Sequence[str], relevant: Collection[str], depth: int | None = None) -> float:
    """Return 1 / the rank of the first relevant document, or 0 if none is among the first `depth`.

    >>> reciprocal_rank(["x", "a", "b"], {"a", "b"})
    0.5
    """
    return next((1 / rank for rank, document in enumerate(run[:depth], 1) if document in relevant), 0.0)


def ranks(scores: NDArray[np.floating[Any]], right: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return the 1-based rank of the right document of each query. A tied document ranks above it.

    Args:
        scores: [B, N], one for each query and document; higher is better.
        right: [B], the column of each query's right document.

    Returns:
        int64 [B]; the mean of `1 / ranks` is the MRR.

    >>> ranks(np.array([[0.5, 0.5, 0.1], [0.2, 0.1, 0.9]]), np.array([0, 2]))
    array([2, 1])
    """
    of_right = np.take_along_axis(scores, right[:, None], axis=1)
    return np.asarray((scores >= of_right).sum(axis=1), np.int64)


def _discounted(grades: Iterable[float]) -> float:
    return math.fsum((2.0**grade - 1) / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
