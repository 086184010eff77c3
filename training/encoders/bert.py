"""A transformer encoder of sentences in the form of BERT: one encoder for queries and documents.

Token, position and segment embeddings, layers that are normalised after each half, GELU, the mean over tokens, unit
length. *Source*: Devlin et al. 2019; Reimers and Gurevych 2019 (the mean); Wang et al. 2020 (MiniLM).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.encoders.selfatt import SelfAttentionLayer, scores_of_mask


class Bert(nn.Module):
    """Ids and mask [B, T] -> unit vectors [B, D]; zeros for a text without tokens."""

    takes_counts = False

    def __init__(
        self,
        *,
        vocab_size: int,
        hidden_size: int,
        num_hidden_layers: int,
        num_attention_heads: int,
        intermediate_size: int,
        max_position_embeddings: int,
    ) -> None:
        """Make a model of sizes with the names of its `config.json`."""
        super().__init__()
        self.table = nn.Embedding(vocab_size, hidden_size)
        self.positions = nn.Parameter(torch.zeros(max_position_embeddings, hidden_size))
        self.norm = nn.LayerNorm(hidden_size, eps=1e-12)
        self.layers = nn.ModuleList(
            SelfAttentionLayer(
                hidden_size, hidden_dim=intermediate_size, heads=num_attention_heads, norm_first=False
            )
            for _ in range(num_hidden_layers)
        )

    def forward(self, ids: Tensor, mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts; `unit` scales the means of their tokens to unit length."""
        states = self.norm(self.table(ids) + self.positions[: ids.shape[1]])
        scores = scores_of_mask(mask)
        for layer in self.layers:
            states = layer(states, scores)
        pooled = (states * mask[..., None]).sum(1).float()
        return functional.normalize(pooled) if unit else pooled / mask.sum(1, keepdim=True).clamp(min=1)

    def freeze(self, layers: int) -> None:
        """Freeze the first layers, and with any of them also the embeddings before them."""
        before = [self.table, self.norm] if layers else []
        self.positions.requires_grad_(not layers)
        for module in (*before, *self.layers[:layers]):
            module.requires_grad_(False)
