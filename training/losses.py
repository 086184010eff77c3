"""Similarities of a batch of pairs -> the loss of each pair.

Each takes the similarities [B, B + H] of B queries and all documents of a batch, and returns [B]. The positive of query
i is document i, and every other document is a negative. A similarity of minus infinity excludes a document that answers
the query too. The last H documents are the positive of no query. Most take cosines or dot products; `cosine` is for
cosines, and `triplet` for the distances of `similarities`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from training.config import TrainConfig

Loss = Callable[[Tensor], Tensor]


def symmetric_softmax(cosines: Tensor, temperature: float) -> Tensor:
    """Predict the document of each query and the query of each document: the mean of both cross entropies."""
    batch = len(cosines)
    return (softmax(cosines, temperature) + softmax(cosines[:, :batch].T, temperature)) / 2


def softmax(cosines: Tensor, temperature: float) -> Tensor:
    """Predict the document of each query. *Source*: Husain et al. 2019, equation 1."""
    target = torch.arange(len(cosines), device=cosines.device)
    return functional.cross_entropy(cosines / temperature, target, reduction="none")


def cosine(cosines: Tensor, margin: float) -> Tensor:
    """Require the cosine of each pair to be `margin` above that of the nearest wrong document, and above 0.

    *Source*: the loss of this name in CodeSearchNet's repository.
    """
    right, wrong = _right_and_wrong(cosines)
    return torch.relu(margin - right + torch.relu(wrong).amax(dim=1))


def max_margin(cosines: Tensor, temperature: float, margin: float) -> Tensor:
    """Require the log probability of each query's document to be `margin` above that of the likeliest wrong one.

    *Source*: the loss of this name in CodeSearchNet's repository, whose vectors have any length and no temperature.
    """
    right, wrong = _right_and_wrong(functional.log_softmax(cosines / temperature, dim=1))
    return torch.relu(margin - right + wrong.amax(dim=1))


def triplet(negated_distances: Tensor, margin: float) -> Tensor:
    """Require each pair to be `margin` nearer than every wrong document; the mean over those that are too near.

    *Source*: the loss of this name in CodeSearchNet's repository.
    """
    right, wrong = _right_and_wrong(negated_distances)
    faults = torch.relu(margin - right[:, None] + wrong)
    return faults.sum(dim=1) / (faults > 0).sum(dim=1).clamp(min=1)


def similarities(queries: Tensor, documents: Tensor, loss: str) -> Tensor:
    """Return what a loss compares: dot products [B, B + H], or for `triplet` distances below zero."""
    if loss == "triplet":
        return -torch.cdist(queries, documents)
    return queries @ documents.T


def make_loss(config: TrainConfig) -> Loss:
    """Return the loss that settings name."""
    losses: dict[str, Loss] = {
        "symmetric-softmax": partial(symmetric_softmax, temperature=config.temperature),
        "softmax": partial(softmax, temperature=config.temperature),
        "cosine": partial(cosine, margin=config.margin),
        "triplet": partial(triplet, margin=config.margin),
        "max-margin": partial(max_margin, temperature=config.temperature, margin=config.margin),
    }
    return losses[config.loss]


def _right_and_wrong(scores: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scores [B] of the pairs, and [B, B + H] of all documents, in which the pairs are minus infinity."""
    pairs = torch.eye(*scores.shape, dtype=torch.bool, device=scores.device)
    return scores.diagonal(), scores.masked_fill(pairs, -torch.inf)
