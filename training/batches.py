"""Packed samples -> padded batches of one language each, shuffled by seed and epoch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training.samples import Packed, Samples

MIN_BATCH = 8


def batch_indices(samples: Samples, batch_size: int, seed: int, epoch: int) -> list[NDArray[np.int64]]:
    """Divide the samples of an epoch into batches of one language, in random order.

    Evaluation ranks against documents of the same language, so in-batch negatives are of one language too. The
    remaining samples of a language make a smaller batch, unless there are fewer than `MIN_BATCH`.
    """
    chance = np.random.default_rng((seed, epoch))
    batches = []
    for language in range(len(samples.language_names)):
        indices = chance.permutation(np.flatnonzero(samples.languages == language))
        batches += [indices[start : start + batch_size] for start in range(0, len(indices), batch_size)]
    batches = [batch for batch in batches if len(batch) >= MIN_BATCH]
    return [batches[index] for index in chance.permutation(len(batches))]


def padded(packed: Packed, indices: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Gather texts into padded ids and mask, both int64 [B, T]; T is the longest of them, at least 1."""
    lengths = packed.starts[indices + 1] - packed.starts[indices]
    width = max(1, int(lengths.max(initial=0)))
    mask = np.arange(width) < lengths[:, None]
    positions = packed.starts[indices][:, None] + np.arange(width)
    ids = np.zeros(mask.shape, dtype=np.int64)
    ids[mask] = packed.ids[positions[mask]]
    return torch.from_numpy(ids), torch.from_numpy(mask.astype(np.int64))


def counted(input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Keep each distinct token of a text once, with its count in the mask. The bag is the same and needs less work."""
    batch, width = input_ids.shape
    marked = torch.where(attention_mask > 0, input_ids, -1).sort(dim=1).values.numpy()
    first = np.ones(marked.shape, dtype=bool)
    first[:, 1:] = marked[:, 1:] != marked[:, :-1]
    run_starts = np.flatnonzero(first)
    counts = np.diff(np.append(run_starts, batch * width))
    tokens, rows = marked.reshape(-1)[run_starts], run_starts // width
    kept = tokens >= 0
    tokens, rows, counts = tokens[kept], rows[kept], counts[kept]
    lengths = np.bincount(rows, minlength=batch)
    columns = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    shape = (batch, max(1, int(lengths.max(initial=0))))
    ids, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    ids[rows, columns], mask[rows, columns] = tokens, counts
    return torch.from_numpy(ids), torch.from_numpy(mask)


def documents_of(samples: Samples, indices: NDArray[np.int64], *, counts: bool) -> tuple[Tensor, Tensor]:
    """Gather documents as padded ids and mask [B, T]; with `counts`, as distinct ids and their counts."""
    ids, mask = padded(samples.documents, indices)
    return counted(ids, mask) if counts else (ids, mask)


def encode_by_length(tower: nn.Module, input_ids: Tensor, mask: Tensor, buckets: int) -> Tensor:
    """Embed a batch in buckets of similar length, each padded to its own longest text.

    Sorting inside the batch reduces the padding for a model that reads in order. Each text keeps its random
    negatives.

    Args:
        tower: (ids, mask) -> [B, D].
        input_ids: int64 [B, T].
        mask: 0 and 1, [B, T], padding last.
        buckets: parts of equal size.

    Returns:
        float32 [B, D], in the order given.
    """
    lengths = mask.sum(dim=1)
    order = lengths.argsort(stable=True)
    parts = []
    for rows in order.chunk(buckets):
        width = max(1, int(lengths[rows].max()))
        parts.append(tower(input_ids[rows, :width], mask[rows, :width]))
    return torch.cat(parts)[order.argsort()]
