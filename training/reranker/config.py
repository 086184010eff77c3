"""Settings of a cross-encoder's training run, with their only defaults."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RerankerConfig:
    """Settings of a run.

    Attributes:
        layers: of the pretrained model to keep, from the first.
        frozen: first layers that are not trained, with the embeddings.
        max_tokens: of a query and a candidate together.
        max_query_tokens: of the query alone.
        depth: wrong candidates come from this many first results of the product.
        negatives: wrong candidates for each question and step.
        score_scale: the product's score is multiplied by this before a logit is added.
        questions: per step.
        documentation: share of the documentation questions that an epoch takes.
        seed: of everything drawn.
    """

    layers: int = 4
    frozen: int = 1
    vocabulary_size: int = 15_000
    max_tokens: int = 96
    max_query_tokens: int = 24
    depth: int = 30
    negatives: int = 7
    score_scale: float = 20.0
    questions: int = 16
    epochs: int = 1
    learning_rate: float = 1.2e-4
    warmup: float = 0.06
    weight_decay: float = 0.01
    documentation: float = 0.15
    seed: int = 0
