"""Neural bag of words, and UNIF: the vectors of a text's tokens, pooled without their order.

`token-weights` is NBoW with one learned weight for each token. `attention` is UNIF; only the numerators of its softmax
over the text are computed. After scaling to unit length, a weighted sum and a weighted mean are the same, so the mean
is computed as a sum, unless the length of the vectors matters.

*Source*: Husain et al. 2019 (NBoW); Cambronero et al. 2019 (UNIF).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.pooling import EPSILON, count_shares


class BagTower(nn.Module):
    """One side: vectors [V, D] and the weights of its pooling."""

    takes_counts = True

    def __init__(
        self, vocabulary_size: int, dim: int, pooling: str = "token-weights", count_power: float = 1.0
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.count_power = count_power
        self.table = nn.EmbeddingBag(vocabulary_size, dim, mode="max" if pooling == "max" else "sum")
        if pooling == "token-weights":
            self.log_weight = nn.Parameter(torch.zeros(vocabulary_size, 1))
        elif pooling in ("attention", "sigmoid"):
            self.attention = nn.Parameter(torch.zeros(dim))

    def token_weights(self) -> Tensor:
        """Return the weight of each token's vector, up to a common factor: float32 [V]."""
        if self.pooling == "token-weights":
            return self.log_weight.squeeze(1).exp()
        if self.pooling == "attention":
            scores = self.table.weight @ self.attention
            return (scores - scores.max().detach()).exp()
        if self.pooling == "sigmoid":
            return torch.sigmoid(self.table.weight @ self.attention)
        return torch.ones(len(self.table.weight), device=self.table.weight.device)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts, int64 [B, T]: float32 [B, D], by default of unit length, zeros for a text without tokens.

        The mask is 0 for padding. A count above 1 stands for that number of equal tokens, so a bag needs each distinct
        token only once.
        """
        # Padding has no weight; to find it, the CPU would wait for a GPU.
        is_padded = input_ids.is_cuda and self.pooling != "max"
        present = torch.ones_like(input_ids, dtype=torch.bool) if is_padded else attention_mask > 0
        lengths = present.sum(dim=1)
        ids = input_ids.flatten() if is_padded else input_ids[present]
        offsets = torch.cumsum(lengths, dim=0) - lengths
        if self.pooling == "max":
            pooled = self.table(ids, offsets)
            return functional.normalize(pooled, dim=1) if unit else pooled
        shares = count_shares(input_ids, attention_mask, self.count_power)
        weights = self.token_weights()[ids] * (shares.flatten() if is_padded else shares[present])
        pooled = self.table(ids, offsets, per_sample_weights=weights)
        if unit:
            return functional.normalize(pooled, dim=1)
        ones = torch.ones(len(self.table.weight), 1, device=ids.device)
        totals = functional.embedding_bag(ids, ones, offsets, mode="sum", per_sample_weights=weights)
        return pooled / totals.clamp(min=EPSILON)
