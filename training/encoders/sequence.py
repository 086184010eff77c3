"""Token vectors -> states that depend on their neighbours -> one vector: the frame of all models that read in order."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class SequenceTower(nn.Module):
    """One side: a table of token vectors, a body [B, T, D] -> [B, T, D], a pooling.

    Every layer of a body adds to its input, and adds nothing at first, so training starts from a bag of words.
    """

    takes_counts = False

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        *,
        body: nn.Module,
        pooling: nn.Module,
        dropout: float,
        table_dropout: float,
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, dim)
        self.dropout, self.table_dropout = nn.Dropout(dropout), nn.Dropout(table_dropout)
        self.body = body
        self.pool = pooling

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts: int64 [B, T], mask of 0 and 1 [B, T], padding last -> float32 [B, D], by default of length 1."""
        vectors = functional.embedding(input_ids, self.table_dropout(self.table.weight))
        states = self.body(self.dropout(vectors), attention_mask)
        pooled = self.pool(states, attention_mask, input_ids).float()
        return functional.normalize(pooled, dim=1) if unit else pooled


class Positions(nn.Module):
    """A learned vector for each position, added to the state there."""

    def __init__(self, dim: int, max_tokens: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(max_tokens, dim))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass [B, T, D] states through."""
        return states + self.positions[: states.shape[1]]


class Stack(nn.Module):
    """Bodies one after the other."""

    def __init__(self, *bodies: nn.Module) -> None:
        super().__init__()
        self.bodies = nn.ModuleList(bodies)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass [B, T, D] states through."""
        for body in self.bodies:
            states = body(states, mask)
        return states
