"""Neural bag of words, and UNIF: the vectors of a text's tokens, pooled without their order.

`token-weights` is NBoW with one learned weight for each token. `attention` is UNIF; only the numerators of its softmax
over the text are computed. After scaling to unit length, a weighted sum and a weighted mean are the same, so the mean
is computed as a sum, unless the length of the vectors matters.

*Source*: Husain et al. 2019 (NBoW); Cambronero et al. 2019 (UNIF).
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.pooling import EPSILON, count_shares


class BagTower(nn.Module):
    """One side: vectors [V, D] and the weights of its pooling."""

    takes_counts = True

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        pooling: str = "token-weights",
        count_power: float = 1.0,
        table_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pooling = pooling
        self.count_power = count_power
        self.table = nn.Embedding(vocabulary_size, dim)
        self.table_dropout = nn.Dropout(table_dropout)
        if pooling == "token-weights":
            self.log_weight = nn.Parameter(torch.zeros(vocabulary_size, 1))
        elif pooling in ("attention", "sigmoid"):
            self.attention = nn.Parameter(torch.zeros(dim))

    def token_weights(self, table: Tensor) -> Tensor:
        """Return the weight of each token's vector [V, D], up to a common factor: float32 [V]."""
        if self.pooling == "token-weights":
            return self.log_weight.squeeze(1).exp()
        if self.pooling == "attention":
            scores = table @ self.attention
            return (scores - scores.max().detach()).exp()
        if self.pooling == "sigmoid":
            return torch.sigmoid(table @ self.attention)
        return torch.ones(len(table), device=table.device)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts, int64 [B, T]: float32 [B, D], by default of unit length, zeros for a text without tokens.

        The mask is 0 for padding. A count above 1 stands for that number of equal tokens, so a bag needs each distinct
        token only once.
        """
        table = self.table_dropout(self.table.weight)
        # Padding has no weight; to find it, the CPU would wait for a GPU, and a compiled function would break.
        is_padded = input_ids.is_cuda or torch.compiler.is_compiling()
        present = torch.ones_like(input_ids, dtype=torch.bool) if is_padded else attention_mask > 0
        lengths = present.sum(dim=1)
        ids = input_ids.flatten() if is_padded else input_ids[present]
        shares = count_shares(input_ids, attention_mask, self.count_power)
        weights = self.token_weights(table)[ids] * (shares.flatten() if is_padded else shares[present])
        add_up = partial(
            functional.embedding_bag,
            ids,
            offsets=torch.cumsum(lengths, dim=0) - lengths,
            mode="sum",
            per_sample_weights=weights,
        )
        if unit:
            return functional.normalize(add_up(table), dim=1)
        return add_up(table) / add_up(torch.ones_like(table[:, :1])).clamp(min=EPSILON)
