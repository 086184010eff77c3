"""A half-trained model and its training pairs -> the wrong documents that it takes for right."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.evaluate import encode
from training.samples import Samples

POOL = 8_192


@torch.inference_mode()
def mine(
    model: JointEncoder, config: TrainConfig, samples: Samples, epoch: int, device: torch.device
) -> Tensor:
    """Find the wrong documents nearest to each query in a random pool of its language.

    A document whose own query has the same tokens is not wrong.

    Returns:
        int64 [N, H] indices of documents; a sample alone in its language gets itself.
    """
    model.eval()
    chance = np.random.default_rng((config.seed, epoch, 1))
    found = np.tile(np.arange(len(samples))[:, None], (1, config.hard_negatives))
    known: dict[bytes, int] = {}
    texts = np.array(
        [known.setdefault(samples.queries[index].tobytes(), index) for index in range(len(samples))]
    )
    for language in range(len(samples.language_names)):
        indices = chance.permutation(np.flatnonzero(samples.languages == language))
        for start in range(0, len(indices), POOL):
            pool = indices[start : start + POOL]
            if len(pool) > config.hard_negatives:
                queries, documents = encode(model, samples, pool, device)
                cosines = queries @ documents.T
                same = torch.from_numpy(texts[pool][:, None] == texts[pool])
                nearest = cosines.masked_fill(same.to(device), -2).topk(config.hard_negatives).indices
                found[pool] = pool[nearest.cpu().numpy()]
    return torch.from_numpy(found)
