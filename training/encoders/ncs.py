"""NCS: subtoken vectors learned without pairs; a document is their TF-IDF weighted sum, a query their mean.

*Source*: Sachdev et al. 2018 (Neural Code Search): e(d) = u(sum over distinct w of u(e_w) * (1 + log tf) * idf).
The post-ranking of `NCS_postrank` has no published formula and is not here.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.pooling import term_counts

_FLOOR = 1e-4
"""Smallest variance of a direction, as a share of the mean, because directions with less variance are noise."""
_EPSILON = 1e-12


class NcsTower(nn.Module):
    """One side over the table that both share; the `shares` of tokens and the `idf` of documents are counted."""

    shares: Tensor
    idf: Tensor | None

    def __init__(self, table: nn.Embedding, *, is_query: bool) -> None:
        super().__init__()
        self.table, self.takes_counts = table, not is_query
        self.register_buffer("shares", torch.zeros(table.num_embeddings))
        self.register_buffer("idf", None if is_query else torch.ones(table.num_embeddings))

    def unit_table(self) -> Tensor:
        """Return the unit vector of each token, whitened over running text: float32 [V, D].

        Skip-gram gives all vectors a common part, which is larger for frequent tokens. A few strong directions depend
        on the language and the package of a text. Neither distinguishes functions, and both dominate the similarity.
        So the mean is removed (Arora et al. 2017) and all directions get equal weight (Mu and Viswanath 2018 remove
        the strongest instead).
        """
        centred = self.table.weight - self.shares @ self.table.weight
        variances, directions = torch.linalg.eigh((centred * self.shares[:, None]).T @ centred)
        scales = (variances + variances.mean() * _FLOOR + _EPSILON).rsqrt()
        return functional.normalize(centred @ (directions * scales) @ directions.T, dim=1)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Embed texts: int64 [B, T] and mask [B, T] -> float32 [B, D] of unit length; a document's mask may count."""
        weights = attention_mask.to(self.shares.dtype)
        if self.idf is not None:
            tf = term_counts(input_ids, attention_mask)  # [B, T]
            weights = attention_mask * (1 + tf.log()) / tf * self.idf[input_ids]
        return functional.normalize((weights[:, None] @ self.unit_table()[input_ids]).squeeze(1), dim=1)
