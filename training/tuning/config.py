"""Settings of fine-tuning a bag, with their only defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TuningConfig:
    """Settings of a run.

    Attributes:
        written: at most this many written questions, drawn by seed; 0 for all.
        documentation: share of the documentation questions that an epoch takes.
        most_of_file: pairs of each file of real questions.
        depth: wrong candidates come from this many first results of the product.
        negatives: wrong candidates of each question and step.
        drop: share of a document's tokens that a step drops.
        score_scale: factor of the product's score in the listwise loss.
        temperature: of the cosines in the loss over the whole batch.
        keep: weight of the squared difference to the cosines of the original bundle.
        questions: per step.
        table_rate, turn_rate, weight_rate: learning rates of the vectors, of a matrix that multiplies all vectors,
            and of the logarithm of each token's weight.
        share: of the tuned vectors in the result; the rest is the original bundle's.
        seed: of everything drawn.
    """

    written: int = 0
    documentation: float = 0.6
    most_of_file: int = 2_800
    depth: int = 50
    negatives: int = 9
    drop: float = 0.3
    score_scale: float = 20.0
    temperature: float = 0.07
    keep: float = 12.0
    questions: int = 256
    epochs: int = 4
    table_rate: float = 4e-4
    turn_rate: float = 2e-4
    weight_rate: float = 1e-2
    share: float = 1.0
    seed: int = 0
