"""States of a text's tokens [B, T, D] -> one vector [B, D], independent of padding.

Every pooling takes states float32 [B, T, D], the mask [B, T] (0 for padding) and the ids [B, T]. It returns zeros for a
text without tokens.

*Source*: Husain et al. 2019, section 4 (mean, attention-like weighted sum).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

EPSILON = 1e-8
MASKED = -1e9
"""Score of padding. It is finite, so a text with only padding does not become NaN."""


class MeanPooling(nn.Module):
    """The mean of the states."""

    def forward(self, states: Tensor, mask: Tensor, input_ids: Tensor) -> Tensor:  # noqa: D102
        present = mask.to(states.dtype)
        return (present[:, None] @ states).squeeze(1) / present.sum(dim=1, keepdim=True).clamp(min=1)


class AttentionPooling(nn.Module):
    """The weighted mean; weights are the softmax over the text of each state's product with one learned vector.

    The vector starts at zero, so training starts from the plain mean.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.attention = nn.Parameter(torch.zeros(dim))

    def forward(self, states: Tensor, mask: Tensor, input_ids: Tensor) -> Tensor:  # noqa: D102
        scores = (states @ self.attention.to(states.dtype)).masked_fill(mask == 0, MASKED)
        weights = torch.softmax(scores, dim=1) * (mask > 0)
        return (weights[:, None] @ states).squeeze(1)


class SigmoidPooling(AttentionPooling):
    """The same with the sigmoid in place of the softmax: CodeSearchNet's `weighted_mean`."""

    def forward(self, states: Tensor, mask: Tensor, input_ids: Tensor) -> Tensor:  # noqa: D102
        weights = torch.sigmoid(states @ self.attention.to(states.dtype)) * (mask > 0)
        return (weights[:, None] @ states).squeeze(1) / weights.sum(dim=1, keepdim=True).clamp(min=EPSILON)


class TokenWeightPooling(nn.Module):
    """The mean weighted by one learned number for each token of the vocabulary, and by its count in the text."""

    def __init__(self, vocabulary_size: int, count_power: float = 1.0) -> None:
        super().__init__()
        self.count_power = count_power
        self.log_weight = nn.Parameter(torch.zeros(vocabulary_size, 1))

    def forward(self, states: Tensor, mask: Tensor, input_ids: Tensor) -> Tensor:  # noqa: D102
        weights = functional.embedding(input_ids, self.log_weight).squeeze(2).exp()
        weights = weights * count_shares(input_ids, mask, self.count_power)
        total = weights.sum(dim=1, keepdim=True).clamp(min=EPSILON)
        return ((weights / total)[:, None].to(states.dtype) @ states).squeeze(1)


def term_counts(input_ids: Tensor, attention_mask: Tensor) -> Tensor:
    """Count how often each token occurs in its text: float32 [B, T], at least 1; the mask [B, T] may have counts."""
    counts = attention_mask.to(torch.float32)
    in_order = (input_ids[:, 1:] > input_ids[:, :-1]) | (attention_mask[:, 1:] == 0)
    if not (input_ids.is_cuda or torch.compiler.is_compiling()) and bool(in_order.all()):
        return counts.clamp(min=1)  # Distinct tokens in order: comparing all pairs would take half of a step.
    same = (input_ids[:, :, None] == input_ids[:, None, :]).to(torch.float32)
    return (same @ counts[:, :, None]).squeeze(2).clamp(min=1)


def count_shares(input_ids: Tensor, attention_mask: Tensor, power: float) -> Tensor:
    """Return the weight of each token: float32 [B, T]; the weights of equal tokens sum to count ** power."""
    counts = attention_mask.to(torch.float32)
    return counts if power == 1 else counts * term_counts(input_ids, attention_mask) ** (power - 1)


def make_pooling(name: str, vocabulary_size: int, dim: int, count_power: float = 1.0) -> nn.Module:
    """Make a pooling by its name in `training.config.Pooling`."""
    if name in ("attention", "sigmoid"):
        return AttentionPooling(dim) if name == "attention" else SigmoidPooling(dim)
    if name == "token-weights":
        return TokenWeightPooling(vocabulary_size, count_power)
    return MeanPooling()
