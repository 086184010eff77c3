"""A ranking -> how likely it is that none of it does what was asked.

Two signals tell, each by the best of the first ten answers: the cosine, and the share of what keywords can give. Long
queries match less of either. `confidence.json` weighs them:

    doubt = 1 / (1 + exp(-(intercept + w1 * cosine + w2 * BM25F / sum of idf + w3 * ln(terms))))

fitted by `python -m benchmarks.confidence` to rankings with and without their answers, half of each. Cosines of another
model mean other things, so for any but the one named there nothing is said.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from codesearch.search.fusion import Pool

FEATURES = ("cosine", "bm25_normalised", "ln_terms")
_FIRST = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """What `confidence.json` holds.

    Attributes:
        model: id of the model whose cosines were fitted.
        weights: of `FEATURES`.
        threshold: doubt from which on a user is told.
    """

    model: str
    intercept: float
    weights: tuple[float, ...]
    threshold: float

    def doubt(self, features: tuple[float, ...]) -> float:
        """Return the probability that nothing answers: 0 to 1.

        >>> Calibration("m", 2.0, (-4.0, 0.0, 0.0), 0.7).doubt((0.5, 0.9, 1.0))
        0.5
        """
        weighted = sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-(self.intercept + weighted)))


@cache
def shipped_calibration() -> Calibration:
    """Read the calibration of the shipped model."""
    fields = json.loads(resources.files("codesearch.search").joinpath("confidence.json").read_text("utf-8"))
    return Calibration(**{**fields, "weights": tuple(fields["weights"])})


def features(pool: Pool, terms: int) -> tuple[float, ...]:
    """Return `FEATURES` of a ranking for a query of so many terms."""
    first = pool.order()[:_FIRST]
    best = (float(pool.signals[name][first].max(initial=0.0)) for name in FEATURES[:2])
    return (*best, math.log(max(terms, 1)))


def doubt_of(pool: Pool, terms: int, model: str) -> float | None:
    """Return the doubt in a ranking by both halves, or None where its model was not calibrated.

    What is called as the query says answers it, whatever else is true; so does a first answer that plainly goes the way
    of the conversion that is asked for.
    """
    calibration = shipped_calibration()
    if model != calibration.model:
        return None
    if bool(np.any(pool.signals["name"] > 0)) or _goes_the_way(pool):
        return 0.0
    return calibration.doubt(features(pool, terms))


def _goes_the_way(pool: Pool) -> bool:
    direction = pool.signals.get("direction")
    if direction is None or not len(direction):
        return False
    return bool(direction[pool.scores.argmax()] >= 1)  # Of equals the first stands first, as in `Pool.order`.
