"""A ranking -> the probability that its first definition answers the query.

It is the product of two logistic regressions, whose weights are in `confidence.json`. The first says whether the
project has code about the subject. It knows the highest cosine among the first ten documents, and the share of the idf
of the query's terms that belongs to terms that occur in no document: a project that never mentions "invoice" prints
none. The second says whether the first definition then is the answer. It knows how far the best score is above the
twentieth: many equally good documents are many guesses.

`python -m benchmarks.confidence --fit` fits the weights to questions that have an answer and to topics that a project
does not have. Cosines of different models are not comparable, so only the model named in the file has a confidence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from codesearch.search.heuristics import named_tiers
from codesearch.search.ranking import Ranking

_FIRST, _LAST = 10, 20


class Confidence(NamedTuple):
    """Probabilities from 0 to 1."""

    answer: float  # That the first definition answers the query.
    subject: float  # That the project has code about what the query asks for.


class Features(NamedTuple):
    """What the regressions know about a ranking; a document that converts the other way has no cosine."""

    cosine: float
    missing: float
    gap: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The content of `confidence.json`."""

    model: str  # Id of the model whose cosines were fitted.
    subject: Sequence[float]  # Intercept, weight of `cosine` and weight of `missing`.
    first: Sequence[float]  # Intercept and weight of `gap`.
    threshold: float  # If the subject is less probable, the user sees a note.

    def confidence(self, features: Features) -> Confidence:
        """Return the probabilities for a ranking.

        >>> Calibration("m", (-2.0, 4.0, 0.0), (0.0, 0.0), 0.3).confidence(Features(0.5, 0.9, 0.1))
        Confidence(answer=0.25, subject=0.5)
        """
        subject = _logistic(self.subject, features.cosine, features.missing)
        return Confidence(subject * _logistic(self.first, features.gap), subject)


def _logistic(weights: Sequence[float], *values: float) -> float:
    intercept, *slopes = weights
    return 1.0 / (1.0 + math.exp(-(intercept + sum(map(float.__mul__, slopes, values)))))


@cache
def shipped_calibration() -> Calibration:
    """Read the calibration of the shipped model."""
    return Calibration(**json.loads(Path(__file__).with_name("confidence.json").read_text("utf-8")))


def features(ranking: Ranking) -> Features:
    """Return the features of a ranking."""
    order = ranking.order()[:_LAST]
    first = order[:_FIRST]
    cosines = ranking.signals["cosine"][first]
    if (direction := ranking.signals.get("direction")) is not None:
        cosines = cosines[direction[first] >= 0]
    scores = ranking.scores[order].tolist() + [0.0] * (_LAST - len(order))
    return Features(float(cosines.max(initial=0.0)), ranking.missing, scores[0] - scores[-1])


def confidence_of(ranking: Ranking, model: str) -> Confidence | None:
    """Return the confidence in a ranking by keywords and vectors, or None if the model is not calibrated.

    It is 1 in two cases: the query is the name, the path or a text of a document, or a document with the highest score
    clearly converts in the direction that the query asks for.
    """
    calibration = shipped_calibration()
    if model != calibration.model:
        return None
    if named_tiers(ranking).any() or ranking.converts_as_asked():
        return Confidence(1.0, 1.0)
    return calibration.confidence(features(ranking))
