"""A ranking -> the probability that one of its documents answers the query.

The features are the highest cosine and the highest BM25F / sum of idf among the first ten documents. The third feature
is the number of terms, because long queries have lower values of both. The model is a logistic regression with the
weights in `confidence.json`:

    confidence = 1 / (1 + exp(-(intercept + w1 * cosine + w2 * BM25F / sum of idf + w3 * ln(terms))))

`python -m benchmarks.confidence` fits the weights. Half of its rankings contain the answer and half do not. Cosines of
different models are not comparable, so only the model named in the file has a confidence.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from codesearch.search.fusion import Ranking
from codesearch.search.heuristics import named_tiers

FEATURES = ("cosine", "bm25_normalised", "ln_terms")
_FIRST = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """The content of `confidence.json`.

    Attributes:
        model: id of the model whose cosines were fitted.
        weights: weights of `FEATURES`.
        threshold: if the confidence is lower, the user sees a note.
    """

    model: str
    intercept: float
    weights: tuple[float, ...]
    threshold: float

    def confidence(self, features: tuple[float, ...]) -> float:
        """Return the probability that there is an answer, 0 to 1.

        >>> Calibration("m", -2.0, (4.0, 0.0, 0.0), 0.3).confidence((0.5, 0.9, 1.0))
        0.5
        """
        weighted = sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-(self.intercept + weighted)))


@cache
def shipped_calibration() -> Calibration:
    """Read the calibration of the shipped model."""
    fields = json.loads(resources.files("codesearch.search").joinpath("confidence.json").read_text("utf-8"))
    return Calibration(**{**fields, "weights": tuple(fields["weights"])})


def features(ranking: Ranking, terms: int) -> tuple[float, ...]:
    """Return the values of `FEATURES` for a ranking and the number of its query's terms."""
    first = ranking.order()[:_FIRST]
    best = (float(ranking.signals[name][first].max(initial=0.0)) for name in FEATURES[:2])
    return (*best, math.log(max(terms, 1)))


def confidence_of(ranking: Ranking, terms: int, model: str) -> float | None:
    """Return the confidence in a ranking by keywords and vectors, or None if the model is not calibrated.

    The confidence is 1 in two cases: the query is the name, the path or a text of a document, or a document with the
    highest score clearly converts in the direction that the query asks for.
    """
    calibration = shipped_calibration()
    if model != calibration.model:
        return None
    if named_tiers(ranking).any() or _converts_as_asked(ranking):
        return 1.0
    return calibration.confidence(features(ranking, terms))


def _converts_as_asked(ranking: Ranking) -> bool:
    """Say whether a document with the highest score clearly converts in the direction that the query asks for."""
    direction = ranking.signals.get("direction")
    if direction is None or not len(direction):
        return False
    return bool(np.any(direction[ranking.scores == ranking.scores.max()] >= 1))
