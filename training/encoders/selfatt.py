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
    layers = [
        SelfAttentionLayer(
            config.dim,
            hidden_dim=config.hidden_dim or 2 * config.dim,
            heads=config.heads,
            dropout=config.dropout,
        )
        for _ in range(config.layers)
    ]
    for last in (last for layer in layers for last in (layer.attention_out, layer.hidden_out)):
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return SelfAttentionBody(config.dim, layers, max_tokens=max_tokens)


class SelfAttentionLayer(nn.Module):
    """Attention and feed-forward, each added to its input.

    `norm_first` normalises the input of each half, with ReLU; else the sum of input and output, with GELU, as in BERT.
    """

    def __init__(
        self, dim: int, *, hidden_dim: int, heads: int, dropout: float = 0.0, norm_first: bool = True
    ) -> None:
        super().__init__()
        self.heads, self.norm_first = heads, norm_first
        eps = 1e-5 if norm_first else 1e-12
        self.attention_norm, self.hidden_norm = nn.LayerNorm(dim, eps), nn.LayerNorm(dim, eps)
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.attention_out = nn.Linear(dim, dim)
        self.hidden = nn.Linear(dim, hidden_dim)
        self.hidden_out = nn.Linear(hidden_dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, scores: Tensor) -> Tensor:
        """Pass states [B, T, D] through; `scores` [B, 1, 1, T] are added to those of attention."""
        if self.norm_first:
            states = states + self._attended(self.attention_norm(states), scores)
            hidden = torch.relu(self.hidden(self.hidden_norm(states)))
            return states + self.dropout(self.hidden_out(hidden))
        states = self.attention_norm(states + self._attended(states, scores))
        hidden = functional.gelu(self.hidden(states))
        return self.hidden_norm(states + self.dropout(self.hidden_out(hidden)))

    def _attended(self, states: Tensor, scores: Tensor) -> Tensor:
        batch, width, _ = states.shape
        parts = self.query_key_value(states).view(batch, width, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(query, key, value, attn_mask=scores.to(query.dtype))
        return self.dropout(self.attention_out(read.transpose(1, 2).reshape(batch, width, -1)))


def scores_of_mask(mask: Tensor) -> Tensor:
    """Return what keeps attention from padding: 0 for tokens and `MASKED` for the rest, float32 [B, 1, 1, T]."""
    return torch.zeros(mask.shape, device=mask.device).masked_fill(mask == 0, MASKED)[:, None, None]


class SelfAttentionBody(nn.Module):
    """Layers over states and positions, [B, T, D] -> [B, T, D]."""

    def __init__(self, dim: int, layers: Iterable[SelfAttentionLayer], *, max_tokens: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(max_tokens, dim))
        self.layers = nn.ModuleList(layers)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass states through; no token attends to padding."""
        scores = scores_of_mask(mask)
        states = states + self.positions[: states.shape[1]]
        for layer in self.layers:
            states = layer(states, scores)
        return states
