"""Self-attention: transformer layers, normalised before each half, over learned positions.

*Source*: Vaswani et al. 2017; Husain et al. 2019 (SelfAtt).
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.config import TrainConfig
from training.pooling import MASKED


def make_body(config: TrainConfig, max_tokens: int) -> SelfAttentionBody:
    """Make the body from the settings of a run, for texts of at most `max_tokens`."""
    layers = (
        SelfAttentionLayer(
            config.dim,
            attention_dim=config.attention_dim or config.dim,
            hidden_dim=config.hidden_dim or 2 * config.dim,
            heads=config.heads,
            dropout=config.dropout,
        )
        for _ in range(config.layers)
    )
    return SelfAttentionBody(config.dim, layers, max_tokens=max_tokens)


class SelfAttentionLayer(nn.Module):
    """Attention and feed-forward, each added to its input.

    Args:
        dim: D.
        attention_dim: of queries, keys and values, over all heads.
        hidden_dim: of the feed-forward half.
        heads: of attention.
        dropout: share of each half's output that is set to zero.
    """

    def __init__(self, dim: int, *, attention_dim: int, hidden_dim: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.hidden_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.query_key_value = nn.Linear(dim, 3 * attention_dim)
        self.attention_out = nn.Linear(attention_dim, dim)
        self.hidden = nn.Linear(dim, hidden_dim)
        self.hidden_out = nn.Linear(hidden_dim, dim)
        self.dropout = nn.Dropout(dropout)
        for layer in (self.attention_out, self.hidden_out):
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, states: Tensor, scores: Tensor) -> Tensor:
        """Pass states [B, T, D] through; `scores` [B, 1, 1, T] are added to those of attention."""
        batch, width, _ = states.shape
        parts = self.query_key_value(self.attention_norm(states))
        query, key, value = parts.view(batch, width, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(query, key, value, attn_mask=scores.to(query.dtype))
        states = states + self.dropout(self.attention_out(read.transpose(1, 2).reshape(batch, width, -1)))
        hidden = torch.relu(self.hidden(self.hidden_norm(states)))
        return states + self.dropout(self.hidden_out(hidden))


class SelfAttentionBody(nn.Module):
    """Layers over states and positions, [B, T, D] -> [B, T, D]."""

    def __init__(self, dim: int, layers: Iterable[SelfAttentionLayer], *, max_tokens: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(max_tokens, dim))
        self.layers = nn.ModuleList(layers)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass states through; no token attends to padding."""
        scores = torch.zeros(mask.shape, device=mask.device).masked_fill(mask == 0, MASKED)[:, None, None]
        states = states + self.positions[: states.shape[1]]
        for layer in self.layers:
            states = layer(states, scores)
        return states
