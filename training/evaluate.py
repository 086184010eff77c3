"""Trained encoder and held-out pairs -> MRR among 999 distractors.

*Source*: Husain et al. 2019, section 4: batches of 1,000 pairs of one language; each query ranks its own document
and the 999 others by similarity; what does not fill a batch is left out.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.batches import counted, padded
from training.encoders.nbow import NBowEncoder
from training.samples import Samples

POOL = 1_000
_EVALUATION_SEED = 99
_ENCODE_BATCH = 500


def reciprocal_ranks(similarities: Tensor) -> Tensor:
    """Return [B] reciprocal ranks of the diagonal in [B, B]; ties count against the right answer."""
    right = similarities.diagonal()[:, None]
    return 1.0 / (similarities >= right).sum(dim=1)


@torch.inference_mode()
def encode(model: NBowEncoder, samples: Samples, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Embed the queries and the documents of some samples: float32 [N, D] each."""
    queries, documents = [], []
    for start in range(0, len(indices), _ENCODE_BATCH):
        chunk = indices[start : start + _ENCODE_BATCH]
        queries.append(model.query(*padded(samples.queries, chunk)))
        documents.append(model.document(*counted(*padded(samples.documents, chunk))))
    return torch.cat(queries), torch.cat(documents)


def mrr_by_language(
    model: NBowEncoder, samples: Samples, pool: int = POOL, max_pools: int | None = None
) -> dict[str, float]:
    """Compute MRR a language over pools of `pool` pairs, and their mean as `average`.

    A language with fewer pairs than one pool is left out.
    """
    model.eval()
    chance = np.random.default_rng(_EVALUATION_SEED)
    result = {}
    for language, name in enumerate(samples.language_names):
        indices = chance.permutation(np.flatnonzero(samples.languages == language))
        pools = len(indices) // pool if max_pools is None else min(max_pools, len(indices) // pool)
        if pools:
            ranks = [_pool_ranks(model, samples, indices[n * pool : (n + 1) * pool]) for n in range(pools)]
            result[name] = float(torch.cat(ranks).mean())
    result["average"] = sum(result.values()) / max(1, len(result))
    return result


def _pool_ranks(model: NBowEncoder, samples: Samples, indices: NDArray[np.int64]) -> Tensor:
    queries, documents = encode(model, samples, indices)
    return reciprocal_ranks(queries @ documents.T)
