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
    """The part that both sides share: the table, and the frequency of each token, which is counted, not learned."""

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__()
        self.table = table
        self.register_buffer("shares", torch.zeros(table.num_embeddings))

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

    def _weighted(self, input_ids: Tensor, weights: Tensor) -> Tensor:
        """Sum unit vectors with weights [B, T]: float32 [B, D] of unit length."""
        return functional.normalize((weights[:, None] @ self.unit_table()[input_ids]).squeeze(1), dim=1)


class NcsQueryTower(NcsTower):
    """The mean of the unit vectors of a query's tokens."""

    takes_counts = False

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Embed texts: int64 [B, T] and mask [B, T] -> float32 [B, D] of unit length."""
        return self._weighted(input_ids, attention_mask.to(self.shares.dtype))


class NcsDocumentTower(NcsTower):
    """The TF-IDF weighted sum of the unit vectors of a document's tokens; `idf` is counted, not learned."""

    takes_counts = True

    def __init__(self, table: nn.Embedding) -> None:
        super().__init__(table)
        self.register_buffer("idf", torch.ones(table.num_embeddings))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Embed texts as the other side does; in the mask, a count stands for that number of equal tokens."""
        tf = term_counts(input_ids, attention_mask)  # [B, T]
        return self._weighted(input_ids, attention_mask * (1 + tf.log()) / tf * self.idf[input_ids])
