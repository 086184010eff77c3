"""Vectors of a batch of pairs -> a loss.

Each takes queries [B, D] and documents [B + H, D] of unit length. The positive of query i is document i, and every
other document is a negative. The last H documents belong to no query.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from training.config import TrainConfig

Loss = Callable[[Tensor, Tensor], Tensor]


def symmetric_softmax(queries: Tensor, documents: Tensor, temperature: float) -> Tensor:
    """Predict the document of each query and the query of each document, among those of the batch.

    Returns:
        Scalar, the mean of both cross entropies of cosines over `temperature`.
    """
    logits = queries @ documents.T / temperature
    batch = len(queries)
    target = torch.arange(batch, device=logits.device)
    by_document = functional.cross_entropy(logits[:, :batch].T, target)
    return (functional.cross_entropy(logits, target) + by_document) / 2


def softmax(queries: Tensor, documents: Tensor, temperature: float) -> Tensor:
    """Predict the document of each query. *Source*: Husain et al. 2019, equation 1."""
    logits = queries @ documents.T / temperature
    return functional.cross_entropy(logits, torch.arange(len(queries), device=logits.device))


def cosine(queries: Tensor, documents: Tensor, margin: float) -> Tensor:
    """Require the cosine of each pair to be `margin` above that of the nearest wrong document, and above 0.

    *Source*: the loss of this name in CodeSearchNet's repository.
    """
    right, wrong = _right_and_wrong(queries @ documents.T)
    return torch.relu(margin - right + torch.relu(wrong).amax(dim=1)).mean()


def max_margin(queries: Tensor, documents: Tensor, temperature: float, margin: float) -> Tensor:
    """Require the log probability of each query's document to be `margin` above that of the likeliest wrong one.

    *Source*: the loss of this name in CodeSearchNet's repository, whose vectors have any length and no temperature.
    """
    right, wrong = _right_and_wrong(functional.log_softmax(queries @ documents.T / temperature, dim=1))
    return torch.relu(margin - right + wrong.amax(dim=1)).mean()


def make_loss(config: TrainConfig) -> Loss:
    """Return the loss that settings name."""
    losses: dict[str, Loss] = {
        "symmetric-softmax": partial(symmetric_softmax, temperature=config.temperature),
        "softmax": partial(softmax, temperature=config.temperature),
        "cosine": partial(cosine, margin=config.margin),
        "max-margin": partial(max_margin, temperature=config.temperature, margin=config.margin),
    }
    return losses[config.loss]


def _right_and_wrong(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores [B] of the pairs, and [B, B + H] of all documents, in which the pairs are minus infinity."""
    pairs = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    return scores.diagonal(), scores.masked_fill(pairs, -torch.inf)
