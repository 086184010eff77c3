"""Packed samples of several sources -> the batches of an epoch, padded.

A batch holds pairs of one source and one language: evaluation ranks against documents of the same language, so in-batch
negatives are of one language too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from training.config import Source, TrainConfig
from training.samples import Packed, Samples

MIN_BATCH = 8
Texts = tuple[Tensor, Tensor]
"""Padded ids and mask, both int64 [B, T]."""


class SourceDataset(NamedTuple):
    """The training pairs of one source."""

    source: Source
    samples: Samples


class BatchIndices(NamedTuple):
    """A batch before its texts are gathered: the number of its dataset, and of its pairs, int64 [B]."""

    dataset: int
    indices: NDArray[np.int64]


def stream(seed: int, *names: int | str) -> int:
    """Return the seed of one use of chance: what is drawn for one name does not change what is drawn for another."""
    words = [zlib.crc32(name.encode()) if isinstance(name, str) else name for name in names]
    return int(np.random.SeedSequence((seed, *words)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def sample_batches(
    datasets: Sequence[SourceDataset], config: TrainConfig, epoch: int, *, grouped: bool = True
) -> list[BatchIndices]:
    """Divide the pairs of an epoch into batches, in random order.

    The pairs of a language are dealt again and again, each time in another order, and an epoch takes the next `share`
    of them. Pairs that follow each other in a source are of one package, mostly of one file: in one batch, they are
    harder negatives than others. The rest makes a smaller batch, unless there are fewer than `MIN_BATCH`. Unless they
    are `grouped`, a batch holds all languages.
    """
    batches = []
    for number, (source, samples) in enumerate(datasets):
        groups = samples.languages if grouped else np.zeros(len(samples), np.int64)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            seed = stream(config.seed, number, samples.language_names[group])
            taken = members[_taken(len(members), source.share, seed, epoch, config.neighbours)]
            batches += [
                BatchIndices(number, taken[start : start + config.batch_size])
                for start in range(0, len(taken), config.batch_size)
            ]
    batches = [batch for batch in batches if len(batch.indices) >= MIN_BATCH]
    order = np.random.default_rng((config.seed, epoch)).permutation(len(batches))
    return [batches[index] for index in order]


def _taken(count: int, share: float, seed: int, epoch: int, neighbours: int) -> NDArray[np.int64]:
    """Return the numbers of an epoch's pairs of one language, int64: runs of neighbours in random order."""
    first, last = round(epoch * share * count), round((epoch + 1) * share * count)
    deals = []
    for deal in range(first // max(1, count), -(-last // max(1, count))):
        draw = np.random.default_rng((seed, deal))
        starts = draw.permutation(-(-count // neighbours)) * neighbours
        order = (starts[:, None] + np.arange(neighbours)).reshape(-1)
        order = order[order < count]
        if neighbours > 1:  # So that runs begin elsewhere in each deal.
            order = (order + draw.integers(neighbours)) % count
        deals.append(order[max(0, first - deal * count) : last - deal * count])
    return np.concatenate(deals) if deals else np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Batch:
    """The pairs of one step: B queries, and B + H documents of which the first B answer them in order.

    Attributes:
        language: of all documents.
        lengths: of the documents, int64 [B + H]; they stay on the CPU, which waits for a GPU when it reads a value.
        weights: factor of each pair's loss, float32 [B].
        also_right: whether a document answers a query in addition to its own, bool [B, B + H].
    """

    language: str
    queries: Texts
    documents: Texts
    lengths: Tensor
    weights: Tensor
    also_right: Tensor

    @property
    def pairs(self) -> int:
        """Return B."""
        return len(self.weights)

    def to(self, device: torch.device) -> Batch:
        """Copy the tensors to a device; from pinned memory, the copies overlap with computation."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Batch:
        """Copy the tensors to pinned memory; a data loader calls this."""
        return self._each(Tensor.pin_memory)

    def _each(self, call: Callable[[Tensor], Tensor]) -> Batch:
        (queries, query_mask), (documents, document_mask) = self.queries, self.documents
        return replace(
            self,
            queries=(call(queries), call(query_mask)),
            documents=(call(documents), call(document_mask)),
            weights=call(self.weights),
            also_right=call(self.also_right),
        )


def make_batch(
    dataset: SourceDataset, indices: NDArray[np.int64], config: TrainConfig, *, counts: bool, seed: int
) -> Batch:
    """Gather the texts of a batch; `seed` draws wrong documents, names as queries and the tokens that are dropped."""
    samples, draw = dataset.samples, np.random.default_rng(seed)
    wrong = _wrong(samples, indices, config.hard_negatives, draw)
    answers = samples.answers[indices]
    # The right documents of the batch are negatives of all other queries already.
    others = np.setdiff1d(np.concatenate([answers[:0], *wrong]), answers)
    documents = np.concatenate([answers, others])
    queries, texts = padded(samples.queries, indices), padded(samples.documents, documents)
    is_named = samples.names.starts[indices + 1] > samples.names.starts[indices]
    by_name = np.flatnonzero(is_named & (draw.random(len(indices)) < config.name_share))
    queries = replaced(queries, by_name, padded(samples.names, indices[by_name]))
    texts = replaced(texts, by_name, padded(samples.nameless, indices[by_name]))
    also_right = torch.from_numpy(also_answering(queries[0], texts[0]))
    if counts:
        texts = counted(*texts)
    if config.token_dropout:
        texts = without_some(*texts, config.token_dropout, torch.Generator().manual_seed(seed), counts=counts)
    return Batch(
        language=samples.language_names[samples.languages[indices[0]]],
        queries=queries,
        documents=texts,
        lengths=(torch.arange(1, texts[1].shape[1] + 1) * (texts[1] > 0)).amax(dim=1),
        weights=torch.from_numpy(samples.weights[indices] * np.float32(dataset.source.weight)),
        also_right=also_right,
    )


def _wrong(
    samples: Samples, indices: NDArray[np.int64], count: int, draw: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Draw at most `count` wrong documents of each pair."""
    if not len(samples.wrong.ids) or not count:
        return []
    every = (np.asarray(samples.wrong[index]) for index in indices)
    return [wrong[draw.permutation(len(wrong))[:count]] for wrong in every]


def also_answering(queries: Tensor, documents: Tensor) -> NDArray[np.bool_]:
    """Return which documents answer which queries in addition to their own, equal texts alike: bool [B, B + H].

    The first B of the padded documents [B + H, T] answer the queries [B, T] in order.
    """
    asked, shown = _numbers(queries), _numbers(documents)
    own = np.arange(len(asked))
    known, found = np.zeros((2, len(asked), len(shown)), np.bool_)
    known[asked, shown[own]] = True
    rows = np.flatnonzero((np.bincount(asked)[asked] > 1) | (np.bincount(shown)[shown[own]] > 1))
    found[rows] = known[asked[rows]][:, shown]  # All other queries have only their own document.
    found[own, own] = False
    return found


def _numbers(texts: Tensor) -> NDArray[np.int64]:
    """Give equal texts equal numbers: int64 [B]."""
    known: dict[bytes, int] = {}
    return np.array([known.setdefault(row.tobytes(), len(known)) for row in texts.numpy()], np.int64)


def without_some(
    ids: Tensor, mask: Tensor, share: float, generator: torch.Generator, *, counts: bool
) -> tuple[Tensor, Tensor]:
    """Remove a random share of tokens, never all: from the mask of a bag, or from a sequence without leaving gaps."""
    kept = mask * (torch.rand(mask.shape, generator=generator) >= share)
    kept = torch.where(kept.any(dim=1, keepdim=True), kept, mask)
    if counts:
        return ids, kept
    order = (kept == 0).to(torch.int8).argsort(dim=1, stable=True)
    return ids.gather(1, order), kept.gather(1, order)


def padded(packed: Packed, indices: NDArray[np.int64]) -> Texts:
    """Gather texts into padded ids and mask, both int64 [B, T]; T is the longest of them, at least 1."""
    starts = packed.starts[indices]
    lengths = packed.starts[indices + 1] - starts
    width = max(1, int(lengths.max(initial=0)))
    mask = np.arange(width) < lengths[:, None]
    ids = np.zeros(mask.shape, dtype=np.int64)
    ids[mask] = packed.ids[(starts[:, None] + np.arange(width))[mask]]
    return torch.from_numpy(ids), torch.from_numpy(mask.astype(np.int64))


def replaced(texts: Texts, rows: NDArray[np.int64], others: Texts) -> Texts:
    """Put other texts in the place of some rows."""
    if not len(rows):
        return texts
    width = max(texts[0].shape[1], others[0].shape[1])
    result = [functional.pad(part, (0, width - part.shape[1])) for part in (*texts, *others)]
    for part, other in zip(result[:2], result[2:], strict=True):
        part[torch.from_numpy(rows)] = other
    return result[0], result[1]


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


def mixed_precision(device: torch.device) -> torch.autocast:
    """Return a context in which encoders multiply in bfloat16 on CUDA, and as always on the CPU."""
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def encode_by_length(
    tower: nn.Module, input_ids: Tensor, mask: Tensor, lengths: Tensor, buckets: int
) -> Tensor:
    """Embed a batch [B, T] in buckets of similar length (int64 [B], on the CPU), each padded to its longest text.

    Sorting inside the batch reduces the padding for a model that reads in order. Each text keeps its random negatives,
    and the vectors [B, D] are in the order given.
    """
    order = lengths.argsort(stable=True)
    parts = []
    for rows in order.chunk(buckets):
        width, there = max(1, int(lengths[rows[-1]])), rows.to(input_ids.device, non_blocking=True)
        parts.append(tower(input_ids[there, :width], mask[there, :width]))
    return torch.cat(parts)[order.argsort().to(input_ids.device, non_blocking=True)]
