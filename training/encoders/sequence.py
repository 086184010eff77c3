"""Token vectors -> states that depend on their neighbours -> one vector: the frame of all models that read in order."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional


class SequenceTower(nn.Module):
    """One side: a table of token vectors, a body [B, T, D] -> [B, T, D], a pooling.

    Every layer of a body adds to its input, and adds nothing at first, so training starts from a bag of words.
    """

    takes_counts = False

    def __init__(
        self, vocabulary_size: int, dim: int, *, body: nn.Module, pooling: nn.Module, dropout: float
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, dim)
        self.dropout = nn.Dropout(dropout)
        self.body = body
        self.pool = pooling

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts: int64 [B, T], mask of 0 and 1 [B, T], padding last -> float32 [B, D], by default of length 1."""
        states = self.body(self.dropout(self.table(input_ids)), attention_mask)
        pooled = self.pool(states, attention_mask, input_ids).float()
        return functional.normalize(pooled, dim=1) if unit else pooled


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
