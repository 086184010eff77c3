"""Settings of a training run, with the only defaults there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """What decides a run's weights, beside its data.

    Attributes:
        name_share: share of training samples whose query is the function's own name.
        vocabulary_rows: rows that the vocabulary is learned from.
        idf_power: token weights start from idf to this power; 0 starts them equal.
        token_dropout: share of a document's distinct tokens left out, anew each time.
        patience: epochs without a better validation MRR before stopping.
        decay: the learning rate falls linearly to this share of its start.
    """

    architecture: str = "nbow"
    dim: int = 256
    vocabulary_size: int = 22_000
    vocabulary_rows: int = 120_000
    max_query_tokens: int = 30
    max_document_tokens: int = 200
    name_share: float = 0.1
    idf_power: float = 0.25
    token_dropout: float = 0.1
    learning_rate: float = 0.005
    decay: float = 0.1
    temperature: float = 0.07
    batch_size: int = 1_024
    epochs: int = 3
    patience: int = 2
    seed: int = 0
