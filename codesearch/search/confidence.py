"""A ranking -> the probability that one of its documents answers the query.

The features are the highest cosine among the first ten documents, and the share of the idf of the query's terms that
belongs to terms that occur in no document: a project that never mentions "invoice" prints none. The model is a logistic
regression with the weights in `confidence.json`:

    confidence = 1 / (1 + exp(-(intercept + w1 * cosine + w2 * missing)))

`python -m benchmarks.confidence --fit` fits the weights to questions that have an answer and to topics that a project
does not have. Cosines of different models are not comparable, so only the model named in the file has a confidence.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources

from codesearch.search.heuristics import named_tiers
from codesearch.search.ranking import Ranking

FEATURES = ("cosine", "missing")
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

        >>> Calibration("m", -2.0, (4.0, 0.0), 0.3).confidence((0.5, 0.9))
        0.5
        """
        weighted = sum(weight * value for weight, value in zip(self.weights, features, strict=True))
        return 1.0 / (1.0 + math.exp(-(self.intercept + weighted)))


@cache
def shipped_calibration() -> Calibration:
    """Read the calibration of the shipped model."""
    fields = json.loads(resources.files("codesearch.search").joinpath("confidence.json").read_text("utf-8"))
    return Calibration(**{**fields, "weights": tuple(fields["weights"])})


def features(ranking: Ranking) -> tuple[float, ...]:
    """Return the values of `FEATURES` for a ranking; a document that converts the other way has no cosine."""
    first = ranking.order()[:_FIRST]
    cosines = ranking.signals["cosine"][first]
    if (direction := ranking.signals.get("direction")) is not None:
        cosines = cosines[direction[first] >= 0]
    return float(cosines.max(initial=0.0)), ranking.missing


def confidence_of(ranking: Ranking, model: str) -> float | None:
    """Return the confidence in a ranking by keywords and vectors, or None if the model is not calibrated.

    The confidence is 1 in two cases: the query is the name, the path or a text of a document, or a document with the
    highest score clearly converts in the direction that the query asks for.
    """
    calibration = shipped_calibration()
    if model != calibration.model:
        return None
    if named_tiers(ranking).any() or ranking.converts_as_asked():
        return 1.0
    return calibration.confidence(features(ranking))
