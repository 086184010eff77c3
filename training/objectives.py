"""The steps of an epoch and their losses: pairs against in-batch negatives, or skip-gram over plain text.

An objective divides an epoch into steps. `prepare` gathers the batch of a step on the CPU, in any thread. `backward`
computes its loss and adds its gradients to the weights. Both depend only on the step, its seed and the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from training.batches import (
    Batch,
    BatchIndices,
    SourceDataset,
    Texts,
    encode_by_length,
    make_batch,
    mixed_precision,
    sample_batches,
    stream,
)
from training.config import TrainConfig
from training.distributed import gather_vectors, local_rows, rank, world
from training.encoders.joint import JointEncoder
from training.files import TrainingError
from training.losses import make_loss, similarities
from training.samples import Samples

Chunk = tuple[Texts, tuple[Tensor, Tensor, Tensor]]
"""Some queries and some documents of a batch; the latter with their lengths."""
BUCKETS = 4
_WINDOW, _NEGATIVES = 5, 5
"""Tokens to each side that skip-gram predicts, and tokens that count against each of them."""
_SKIPGRAM_PAIRS = 65_536
_SHARED_NEGATIVES = 1_024
TEXTS = 256
FREQUENT = 1e-3
"""Tokens with a larger share of all tokens are skipped at random, as in word2vec."""


class PairObjective:
    """Train queries to find their documents."""

    def __init__(
        self,
        model: JointEncoder,
        config: TrainConfig,
        datasets: Sequence[SourceDataset],
        device: torch.device,
        original: JointEncoder | None = None,
    ) -> None:
        """Learn from `datasets`, and keep the cosines of the `original` as far as the settings say."""
        self.model, self._config, self._datasets, self._device = model, config, datasets, device
        self._loss, self._original = make_loss(config), original
        self._batches: list[BatchIndices] = []
        self._language_weights = language_weights(datasets)

    def start(self, epoch: int) -> int:
        """Divide the epoch's pairs into batches."""
        self._batches = sample_batches(self._datasets, self._config, epoch)
        return len(self._batches)

    def prepare(self, step: int, seed: int) -> Batch:
        """Gather the texts of a batch."""
        number, indices = self._batches[step]
        counts = self.model.takes_counts
        batch = make_batch(self._datasets[number], indices, self._config, counts=counts, seed=seed)
        if self._config.language_weights == "equal":
            batch.weights.mul_(self._language_weights[batch.language])
        return batch

    def backward(self, batch: Batch, seed: int) -> Tensor:
        """Add the gradients of a batch.

        A batch of several chunks is embedded without gradients, which gives the gradient of the loss by its vectors.
        With that, each chunk is embedded again. *Source*: Gao et al. 2021 (GradCache).
        """
        batch = batch.to(self._device)
        chunks = _chunks(batch, self._config.chunk)
        is_whole = len(chunks) == 1
        sides = self._embedded(self.model, batch, chunks, seed, gradients=is_whole)
        if not is_whole:
            sides = [side.detach().requires_grad_() for side in sides]
        loss = self._loss_of(batch, *_gathered(batch, sides), self._original_cosines(batch, chunks))
        loss.backward()
        if not is_whole:
            gradients = zip(*(side.grad.tensor_split(len(chunks)) for side in sides), strict=True)
            for at, (chunk, its) in enumerate(zip(chunks, gradients, strict=True)):
                torch.autograd.backward(
                    self._sides(self.model, batch.language, chunk, stream(seed, at, rank())), its
                )
        return loss.detach()

    def _embedded(
        self, model: JointEncoder, batch: Batch, chunks: Sequence[Chunk], seed: int, *, gradients: bool
    ) -> list[Tensor]:
        """Return the vectors of this process's queries and documents, float32 [B, D] and [B + H, D] if there is one."""
        with torch.set_grad_enabled(gradients):
            parts = [
                self._sides(model, batch.language, chunk, stream(seed, at, rank()))
                for at, chunk in enumerate(chunks)
            ]
        return [torch.cat(side) for side in zip(*parts, strict=True)]

    def _sides(self, model: JointEncoder, language: str, chunk: Chunk, seed: int) -> tuple[Tensor, Tensor]:
        torch.manual_seed(seed)  # Of dropout: the second pass must drop the same as the first.
        with mixed_precision(self._device):
            unit = self._config.similarity == "cosine"
            queries = model.query(*chunk[0], unit=unit)
            tower = partial(model.document(language), unit=unit)
            documents = encode_by_length(tower, *chunk[1], 1 if model.takes_counts else BUCKETS)
        return queries.float(), documents.float()  # Half precision is too coarse for ranking.

    def _original_cosines(self, batch: Batch, chunks: Sequence[Chunk]) -> Tensor | None:
        if self._original is None or not self._config.keep:
            return None
        sides = self._embedded(self._original, batch, chunks, 0, gradients=False)
        queries, documents = _gathered(batch, sides)
        return queries @ documents.T

    def _loss_of(self, batch: Batch, queries: Tensor, documents: Tensor, original: Tensor | None) -> Tensor:
        """Return the mean loss of the pairs, plus that of keeping the `original` cosines if they are given."""
        cosines = similarities(queries, documents, self._config.loss)
        losses = self._loss(cosines.masked_fill(batch.also_right, -torch.inf))
        loss = (losses * batch.weights).mean()
        return loss if original is None else loss + self._config.keep * functional.mse_loss(cosines, original)


def language_weights(datasets: Sequence[SourceDataset]) -> dict[str, float]:
    """Return the factors with which all languages count the same; their mean over the pairs of an epoch is 1."""
    counts: dict[str, float] = {}
    for source, samples in datasets:
        for number, name in enumerate(samples.language_names):
            pairs = source.share * float((samples.languages == number).sum())
            counts[name] = counts.get(name, 0.0) + pairs
    return {name: sum(counts.values()) / len(counts) / count for name, count in counts.items()}


def _chunks(batch: Batch, size: int) -> list[Chunk]:
    """Cut this process's part of a batch into chunks of at most `size` documents; 0 leaves it whole.

    Each chunk has a part of the queries, too.
    """
    own = [tuple(map(local_rows, texts)) for texts in (batch.queries, (*batch.documents, batch.lengths))]
    count = min(len(own[0][0]), -(-len(own[1][0]) // size)) if size else 1
    sides = (zip(*(values.tensor_split(count) for values in texts), strict=True) for texts in own)
    return list(zip(*sides, strict=True))


def _gathered(batch: Batch, sides: Sequence[Tensor]) -> list[Tensor]:
    """Return the vectors of all queries and of all documents of a batch, float32 [B, D] and [B + H, D]."""
    counts = (len(batch.queries[0]), len(batch.documents[0]))
    return [gather_vectors(side, count) for side, count in zip(sides, counts, strict=True)]


@dataclass(frozen=True, slots=True)
class Tokens:
    """A step of `pairs` functions: tokens, a neighbour of each, and tokens drawn as negatives of all of them."""

    centers: Tensor
    neighbours: Tensor
    drawn: Tensor
    pairs: int


class SkipGramObjective:
    """Each token of a function, comment and code, predicts its neighbours: word2vec with negative sampling.

    Negatives are drawn once for all tokens of a step, so their scores are one matrix product. Their part of the loss is
    scaled to `_NEGATIVES` for each pair. *Source*: Mikolov et al. 2013.
    """

    def __init__(
        self,
        model: JointEncoder,
        config: TrainConfig,
        datasets: Sequence[SourceDataset],
        device: torch.device,
    ) -> None:
        self._model, self._datasets, self._device = model, datasets, device
        self._config = replace(config, batch_size=TEXTS)
        packs = (packed for _, samples in datasets for packed in (samples.documents, samples.queries))
        size = model.context.num_embeddings
        counts = np.asarray(sum(np.bincount(packed.ids, minlength=size) for packed in packs))
        self._noise = torch.from_numpy(counts.astype(np.float64) ** 0.75)
        self._kept = np.minimum(1, np.sqrt(FREQUENT * counts.sum() / np.maximum(counts, 1)))
        self._batches: list[BatchIndices] = []

    def start(self, epoch: int) -> int:
        """Divide the functions into steps."""
        self._batches = sample_batches(self._datasets, self._config, epoch, grouped=False)
        return len(self._batches)

    def prepare(self, step: int, seed: int) -> Tokens:
        """List the neighbours in some functions."""
        number, indices = self._batches[step]
        generator = torch.Generator().manual_seed(seed)
        ids, owners = running_text(self._datasets[number].samples, indices)
        kept = torch.rand(len(ids), generator=generator).numpy() < self._kept[ids]
        centers, neighbours = neighbour_pairs(ids[kept], owners[kept], _WINDOW)
        if len(centers) > _SKIPGRAM_PAIRS:
            chosen = torch.randperm(len(centers), generator=generator)[:_SKIPGRAM_PAIRS]
            centers, neighbours = centers[chosen], neighbours[chosen]
        drawn = torch.multinomial(self._noise, _SHARED_NEGATIVES, replacement=True, generator=generator)
        return Tokens(centers, neighbours, drawn, len(indices))

    def backward(self, batch: Tokens, seed: int) -> Tensor:
        """Add the gradients of the tokens of some functions."""
        tokens = (part.to(self._device) for part in (batch.centers, batch.neighbours, batch.drawn))
        loss = skipgram_loss(self._model, *tokens, _NEGATIVES)
        loss.backward()
        return loss.detach()


def skipgram_loss(
    model: JointEncoder, centers: Tensor, neighbours: Tensor, drawn: Tensor, negatives: int
) -> Tensor:
    """Return -log s(u v) - `negatives` * E[log s(-u n)], averaged over pairs.

    Centers and neighbours are int64 [P]; `drawn`, int64 [K], are negatives of every pair.
    """
    tokens, where, counts = centers.unique(return_inverse=True, return_counts=True)
    vectors = model.query.table(tokens)
    right = functional.logsigmoid((vectors[where] * model.context(neighbours)).sum(dim=1)).sum()
    # A pair's score against negatives depends only on its center, so score each distinct center once.
    wrong = (functional.logsigmoid(-vectors @ model.context(drawn).T).mean(dim=1) * counts).sum()
    return -(right + negatives * wrong) / len(centers)


def running_text(samples: Samples, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lay functions end to end, comment before code: the ids and the position in `indices` of each, int64 [T]."""
    texts = [
        np.concatenate([samples.queries[index], samples.documents[samples.answers[index]]])
        for index in indices
    ]
    owners = np.repeat(np.arange(len(indices)), [len(text) for text in texts])
    return np.concatenate(texts).astype(np.int64), owners


def neighbour_pairs(ids: NDArray[np.int64], owners: NDArray[np.int64], window: int) -> tuple[Tensor, Tensor]:
    """List (token, neighbour) of texts laid end to end, both ways: int64 [P] each.

    >>> tokens, neighbours = neighbour_pairs(np.array([7, 8, 9]), np.array([0, 0, 1]), 2)
    >>> tokens.tolist(), neighbours.tolist()
    ([7, 8], [8, 7])
    """
    left, right = [], []
    for distance in range(1, window + 1):
        together = owners[:-distance] == owners[distance:]
        left.append(ids[:-distance][together])
        right.append(ids[distance:][together])
    first, second = np.concatenate(left), np.concatenate(right)
    return torch.from_numpy(np.concatenate([first, second])), torch.from_numpy(
        np.concatenate([second, first])
    )


Objective = PairObjective | SkipGramObjective


def make_objective(
    model: JointEncoder,
    config: TrainConfig,
    datasets: Sequence[SourceDataset],
    device: torch.device,
    original: JointEncoder | None = None,
) -> Objective:
    """Return the objective of an architecture."""
    if config.architecture == "ncs":
        if world() > 1:
            raise TrainingError("architecture ncs: trains in one process: start it without torchrun")
        return SkipGramObjective(model, config, datasets, device)
    return PairObjective(model, config, datasets, device, original)
