"""Similarities of a batch -> a loss."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def symmetric_softmax(queries: Tensor, documents: Tensor, temperature: float) -> Tensor:
    """Ask each query for its document, and each document for its query, among the batch's.

    Args:
        queries: float32 [B, D] of unit length.
        documents: float32 [B, D]; the positive of query i is document i.
        temperature: divides the cosines.

    Returns:
        Scalar, the mean of both cross entropies.
    """
    logits = queries @ documents.T / temperature
    target = torch.arange(len(logits), device=logits.device)
    return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)) / 2
