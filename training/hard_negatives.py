"""Training pairs -> the wrong documents that an encoder ranks high: the encoder in training, or another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from codesearch.encoding.encoder import Encoder
from training.config import TrainConfig
from training.corpus.rows import Row
from training.encoders.joint import JointEncoder
from training.evaluate import encode
from training.samples import Samples, texts_of_row

POOL = 8_192
_RIGHT_AS_WELL = 0.95
"""A document above this share of the right document's cosine counts as right too: Moreira et al. 2024."""
_NEVER = -2.0


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
    found = _themselves(len(samples), config.hard_negatives)
    texts = _numbers([samples.queries[index].tobytes() for index in range(len(samples))])
    for pool in _pools(samples.languages, config, epoch):
        queries, documents = encode(model, samples, pool, device)
        found[pool] = _nearest_wrong(queries @ documents.T, pool, texts[pool], config.hard_negatives)
    return torch.from_numpy(found)


def mine_by(encoder: Encoder, rows: Sequence[Row], config: TrainConfig) -> Tensor:
    """Find the wrong documents that another encoder puts nearest to each docstring, in a random pool of its language.

    A document with the same docstring is not wrong. One that is about as near as the right one may be right too.

    Returns:
        int64 [N, H] indices of documents; if there are fewer, a row gets itself.
    """
    found = _themselves(len(rows), config.hard_negatives)
    texts = _numbers([row.docstring for row in rows])
    languages = _numbers([row.language for row in rows])
    for pool in _pools(languages, config, 0):
        chosen = [(*texts_of_row(rows[index]), rows[index].language) for index in pool]
        queries = encoder.encode_queries([query for query, *_ in chosen])
        documents = encoder.encode_documents(
            [
                encoder.tokenizer.encode_document(text, encoder.max_document_tokens, language)
                for _, text, language in chosen
            ]
        )
        cosines = torch.from_numpy(queries @ documents.T)
        too_near = cosines > _RIGHT_AS_WELL * cosines.diagonal()[:, None]
        cosines.masked_fill_(too_near, _NEVER)
        found[pool] = _nearest_wrong(cosines, pool, texts[pool], config.hard_negatives)
    return torch.from_numpy(found)


def _themselves(count: int, negatives: int) -> NDArray[np.int64]:
    return np.tile(np.arange(count)[:, None], (1, negatives))


def _numbers(values: Sequence[str | bytes]) -> NDArray[np.int64]:
    """Give equal values equal numbers: int64 [N]."""
    known: dict[str | bytes, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values], dtype=np.int64)


def _pools(languages: NDArray[np.int64], config: TrainConfig, epoch: int) -> Iterator[NDArray[np.int64]]:
    """Divide the samples of each language into random pools that are large enough to choose from."""
    chance = np.random.default_rng((config.seed, epoch, 1))
    for language in range(int(languages.max(initial=-1)) + 1):
        indices = chance.permutation(np.flatnonzero(languages == language))
        for start in range(0, len(indices), POOL):
            pool = indices[start : start + POOL]
            if len(pool) > config.hard_negatives:
                yield pool


def _nearest_wrong(
    cosines: Tensor, pool: NDArray[np.int64], texts: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Choose by cosines [P, P] of a pool's queries and documents; if all are excluded, a sample gets itself."""
    same = torch.from_numpy(texts[:, None] == texts).to(cosines.device)
    best = cosines.masked_fill(same, _NEVER).topk(count)
    indices = pool[best.indices.cpu().numpy()]
    return np.where((best.values > _NEVER).cpu().numpy(), indices, pool[:, None])
