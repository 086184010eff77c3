"""Vectors of a batch of pairs -> a loss.

Each takes queries [B, D] and documents [B + H, D] of unit length. The positive of query i is document i, and every
other document is a negative. The last H documents belong to no query.
"""

from __future__ import annotations

from collections.abc import Callable

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
    """Require each query's document to be `margin` above the nearest wrong one."""
    right, wrong = _right_and_wrong(queries, documents)
    return torch.relu(margin - right + wrong.amax(dim=1)).mean()


def max_margin(queries: Tensor, documents: Tensor, margin: float) -> Tensor:
    """Require each query's document to be `margin` above every wrong one; return the mean over all of them.

    *Source*: Cambronero et al. 2019, with the whole batch instead of one negative.
    """
    right, wrong = _right_and_wrong(queries, documents)
    return torch.relu(margin - right[:, None] + wrong).sum() / (wrong.numel() - len(queries))


def make_loss(config: TrainConfig) -> Loss:
    """Return the loss that settings name."""
    by_temperature = {"symmetric-softmax": symmetric_softmax, "softmax": softmax}
    by_margin = {"cosine": cosine, "max-margin": max_margin}
    scale = config.temperature if config.loss in by_temperature else config.margin
    function = {**by_temperature, **by_margin}[config.loss]
    return lambda queries, documents: function(queries, documents, scale)


def _right_and_wrong(queries: Tensor, documents: Tensor) -> tuple[Tensor, Tensor]:
    """Return cosines [B] of the pairs, and [B, B + H] of all documents, in which the pairs are minus infinity."""
    cosines = queries @ documents.T
    right = cosines.diagonal()
    pairs = torch.eye(*cosines.shape, dtype=torch.bool, device=cosines.device)
    return right, cosines.masked_fill(pairs, -torch.inf)
