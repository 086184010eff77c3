"""Neural bag of words, and UNIF: the vectors of a text's tokens, pooled without their order.

`token-weights` is NBoW with one learned weight for each token. `attention` is UNIF; only the numerators of its softmax
over the text are computed. After scaling to unit length, a weighted sum and a weighted mean are the same, so the mean
is computed as a sum too.

*Source*: Husain et al. 2019 (NBoW); Cambronero et al. 2019 (UNIF).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.pooling import count_shares


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
        elif pooling == "attention":
            self.attention = nn.Parameter(torch.zeros(dim))

    def token_weights(self) -> Tensor:
        """Return the weight of each token's vector, up to a common factor: float32 [V]."""
        if self.pooling == "token-weights":
            return self.log_weight.squeeze(1).exp()
        if self.pooling == "attention":
            scores = self.table.weight @ self.attention
            return (scores - scores.max().detach()).exp()
        return torch.ones(len(self.table.weight), device=self.table.weight.device)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Embed texts.

        Args:
            input_ids: int64 [B, T].
            attention_mask: [B, T], 0 for padding. A count above 1 stands for that number of equal tokens, so a bag
                needs each distinct token only once.

        Returns:
            float32 [B, D] of unit length; zeros for a text without tokens.
        """
        if (
            input_ids.is_cuda and self.pooling != "max"
        ):  # Padding has no weight; to find it, the CPU would wait.
            ids, offsets, shares = input_ids, None, count_shares(input_ids, attention_mask, self.count_power)
        else:
            present = attention_mask > 0
            lengths = present.sum(dim=1)
            ids, offsets = input_ids[present], torch.cumsum(lengths, dim=0) - lengths
            if self.pooling == "max":
                return functional.normalize(self.table(ids, offsets), dim=1)
            shares = count_shares(input_ids, attention_mask, self.count_power)[present]
        pooled = self.table(ids, offsets, per_sample_weights=self.token_weights()[ids] * shares)
        return functional.normalize(pooled, dim=1)
