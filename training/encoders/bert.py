"""A transformer encoder of sentences in the form of BERT: one encoder for queries and documents.

Token, position and segment embeddings, layers that are normalised after each half, GELU, the mean over tokens, unit
length. *Source*: Devlin et al. 2019; Reimers and Gurevych 2019 (the mean); Wang et al. 2020 (MiniLM).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class BertConfig:
    """Sizes of a model, with the names of its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12


class BertLayer(nn.Module):
    """Attention and feed-forward, each added to its input and then normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        dim, hidden = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        self.query_key_value, self.attention_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.hidden, self.hidden_out = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.attention_norm, self.hidden_norm = (
            nn.LayerNorm(dim, eps=config.layer_norm_eps) for _ in range(2)
        )

    def forward(self, states: Tensor, allowed: Tensor) -> Tensor:
        """Pass states [B, T, D] through; `allowed` [B, 1, 1, T] says which tokens may be read."""
        batch, width, _ = states.shape
        parts = self.query_key_value(states).view(batch, width, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        read = functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        read = self.attention_out(read.transpose(1, 2).reshape(batch, width, -1))
        states = self.attention_norm(states + read)
        return self.hidden_norm(states + self.hidden_out(functional.gelu(self.hidden(states))))


class Bert(nn.Module):
    """Ids and mask [B, T] -> unit vectors [B, D]; zeros for a text without tokens."""

    takes_counts = False

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Parameter(torch.zeros(config.max_position_embeddings, config.hidden_size))
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids: Tensor, mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts; `unit` scales the means of their tokens to unit length."""
        states = self.norm(self.table(ids) + self.positions[: ids.shape[1]])
        allowed = (mask > 0)[:, None, None] | ~(mask > 0).any(1)[:, None, None, None]  # No row may be empty.
        for layer in self.layers:
            states = layer(states, allowed)
        pooled = (states * mask[..., None]).sum(1).float()
        return functional.normalize(pooled) if unit else pooled / mask.sum(1, keepdim=True).clamp(min=1)

    def freeze(self, layers: int) -> None:
        """Freeze the first layers, and with any of them also the embeddings before them."""
        before = [self.table, self.norm] if layers else []
        self.positions.requires_grad_(not layers)
        for module in (*before, *self.layers[:layers]):
            module.requires_grad_(False)
