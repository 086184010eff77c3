"""A ranking -> the probability that one of its documents answers the query.

Two signals decide, each by the best of the first ten documents: the cosine, and BM25F divided by the sum of idf. Long
queries match less of either. `confidence.json` holds the weights of a logistic regression:

    confidence = 1 / (1 + exp(-(intercept + w1 * cosine + w2 * BM25F / sum of idf + w3 * ln(terms))))

`python -m benchmarks.confidence` fits them to rankings with and without their answers, half of each. Cosines of
different models do not compare, so only the model named in the file has a confidence.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from codesearch.search.fusion import Ranking

FEATURES = ("cosine", "bm25_normalised", "ln_terms")
_FIRST = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """What `confidence.json` holds.

    Attributes:
        model: id of the model whose cosines were fitted.
        weights: of `FEATURES`.
        threshold: the user is told when the confidence is lower.
    """

    model: str
    intercept: float
    weights: tuple[float, ...]
    threshold: float

    def confidence(self, features: tuple[float, ...]) -> float:
        """Return the probability of an answer: 0 to 1.

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
    """Return `FEATURES` of a ranking for a query of so many terms."""
    first = ranking.order()[:_FIRST]
    best = (float(ranking.signals[name][first].max(initial=0.0)) for name in FEATURES[:2])
    return (*best, math.log(max(terms, 1)))


def confidence_of(ranking: Ranking, terms: int, model: str) -> float | None:
    """Return the confidence in a ranking by keywords and vectors, or None for a model that was not calibrated.

    A document that the query names is an answer, and so is a best document that clearly converts the way the query
    asks: their confidence is 1.
    """
    calibration = shipped_calibration()
    if model != calibration.model:
        return None
    if bool(np.any(ranking.signals["name"] > 0)) or _converts_as_asked(ranking):
        return 1.0
    return calibration.confidence(features(ranking, terms))


def _converts_as_asked(ranking: Ranking) -> bool:
    """Say whether a document with the best score clearly converts the way the query asks."""
    direction = ranking.signals.get("direction")
    if direction is None or not len(direction):
        return False
    return bool(np.any(direction[ranking.scores == ranking.scores.max()] >= 1))
