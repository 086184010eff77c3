"""Neural bag of words: a weighted mean of token vectors, one table and one set of weights a side.

The query and the document side share the vocabulary only. The token weights are learned scalars, as in UNIF but
without its softmax over the text: unit length makes a sum and a mean the same.

*Source*: Husain et al. 2019 (NBoW); Cambronero et al. 2019 (UNIF).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_INIT_STD = 0.1


class BagTower(nn.Module):
    """One side: vectors [V, D] and log weights [V]."""

    def __init__(self, vocabulary_size: int, dim: int) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(vocabulary_size, dim, mode="sum")
        self.log_weight = nn.Parameter(torch.zeros(vocabulary_size, 1))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Embed texts.

        Args:
            input_ids: int64 [B, T].
            attention_mask: [B, T], 0 for padding. A count above 1 stands for as many equal tokens, which a bag
                may be given only once.

        Returns:
            float32 [B, D] of unit length; zeros for a text without tokens.
        """
        present = attention_mask > 0
        lengths = present.sum(dim=1)
        offsets = torch.cumsum(lengths, dim=0) - lengths
        ids = input_ids[present]
        weights = functional.embedding(ids, self.log_weight).squeeze(1).exp() * attention_mask[present]
        pooled = self.table(ids, offsets, per_sample_weights=weights)
        return functional.normalize(pooled, dim=1)


class NBowEncoder(nn.Module):
    """Both sides; they start equal, so that training starts from overlap of words."""

    architecture = "nbow"

    def __init__(self, vocabulary_size: int, dim: int) -> None:
        super().__init__()
        self.query = BagTower(vocabulary_size, dim)
        self.document = BagTower(vocabulary_size, dim)
        nn.init.normal_(self.query.table.weight, std=_INIT_STD)
        self.document.load_state_dict(self.query.state_dict())

    def set_log_weights(self, log_weight: Tensor) -> None:
        """Start both sides from given log weights, float32 [V]."""
        for tower in (self.query, self.document):
            tower.log_weight.data.copy_(log_weight[:, None])
