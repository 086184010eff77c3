"""The steps of an epoch and their losses: pairs against in-batch negatives, or skip-gram over plain text."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from training.batches import batch_indices, documents_of, encode_by_length, padded
from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.losses import make_loss
from training.samples import Samples

BUCKETS = 4
_SKIPGRAM_PAIRS = 65_536
_SHARED_NEGATIVES = 1_024
_TEXTS = 256
_FREQUENT = 1e-3
"""Tokens with a larger share of all tokens are skipped at random, as in word2vec."""


class Objective(Protocol):
    """An epoch of steps. A step depends only on seed, epoch, step and weights."""

    def start(self, epoch: int) -> None:
        """Divide an epoch into steps."""
        ...

    @property
    def steps(self) -> int: ...  # noqa: D102

    def loss(self, step: int) -> tuple[Tensor, int]:
        """Return the mean loss of a step and its number of pairs."""
        ...


class PairObjective:
    """Train queries to find their documents."""

    def __init__(
        self,
        model: JointEncoder,
        config: TrainConfig,
        samples: Samples,
        device: torch.device,
    ) -> None:
        """Learn from `samples`."""
        self._model, self._config, self._samples, self._device = model, config, samples, device
        self._loss = make_loss(config)
        self.chunks: list[NDArray[np.int64]] = []

    def start(self, epoch: int) -> None:
        """Divide the epoch's pairs into batches."""
        config = self._config
        deal, part = divmod(epoch, config.epoch_parts)
        chunks = batch_indices(self._samples, config.batch_size, config.seed, deal)
        self.chunks = chunks[part :: config.epoch_parts]

    @property
    def steps(self) -> int:
        """Return the number of batches in the epoch."""
        return len(self.chunks)

    def loss(self, step: int) -> tuple[Tensor, int]:
        """Return the loss of one batch."""
        indices = self.chunks[step]
        tower = self._model.document(self._samples.language_names[self._samples.languages[indices[0]]])
        queries = self._model.query(*self._moved(*padded(self._samples.queries, indices)))
        ids, mask = documents_of(self._samples, indices, counts=self._model.takes_counts)
        if self._config.token_dropout:
            ids, mask = without_some(ids, mask, self._config.token_dropout, counts=self._model.takes_counts)
        ids, mask = self._moved(ids, mask)
        documents = encode_by_length(tower, ids, mask, 1 if self._model.takes_counts else BUCKETS)
        with torch.autocast(self._device.type, enabled=False):  # Half precision is too coarse for ranking.
            return self._loss(queries.float(), documents.float()), len(indices)

    def _moved(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return tuple(tensor.to(self._device, non_blocking=True) for tensor in tensors)


def without_some(ids: Tensor, mask: Tensor, share: float, *, counts: bool) -> tuple[Tensor, Tensor]:
    """Remove a random share of tokens: from the mask of a bag, or from a sequence without leaving gaps."""
    kept = mask * (torch.rand(mask.shape) >= share)
    if counts:
        return ids, kept
    order = (kept == 0).to(torch.int8).argsort(dim=1, stable=True)
    return ids.gather(1, order), kept.gather(1, order)


class SkipGramObjective:
    """Each token of a function, comment and code, predicts its neighbours: word2vec with negative sampling.

    Negatives are drawn once for all tokens of a step, so their scores are one matrix product. Their part of the loss is
    scaled to `skipgram_negatives` for each pair. *Source*: Mikolov et al. 2013.
    """

    def __init__(
        self, model: JointEncoder, config: TrainConfig, samples: Samples, device: torch.device
    ) -> None:
        self._model, self._config, self._samples, self._device = model, config, samples, device
        counts = np.bincount(samples.documents.ids, minlength=model.context.num_embeddings)
        counts += np.bincount(samples.queries.ids, minlength=len(counts))
        self._noise = torch.from_numpy(counts.astype(np.float64) ** 0.75)
        self._kept = np.minimum(1, np.sqrt(_FREQUENT * counts.sum() / np.maximum(counts, 1)))
        self._chunks: tuple[NDArray[np.int64], ...] = ()

    def start(self, epoch: int) -> None:
        """Divide the functions into steps."""
        order = np.random.default_rng((self._config.seed, epoch)).permutation(len(self._samples))
        self._chunks = tuple(order[start : start + _TEXTS] for start in range(0, len(order), _TEXTS))

    @property
    def steps(self) -> int:
        """Return the number of steps in the epoch."""
        return len(self._chunks)

    def loss(self, step: int) -> tuple[Tensor, int]:
        """Return the loss of the tokens of some functions."""
        indices = self._chunks[step]
        ids, owners = running_text(self._samples, indices)
        kept = torch.rand(len(ids)).numpy() < self._kept[ids]
        centers, neighbours = neighbour_pairs(ids[kept], owners[kept], self._config.window)
        if len(centers) > _SKIPGRAM_PAIRS:
            chosen = torch.randperm(len(centers))[:_SKIPGRAM_PAIRS]
            centers, neighbours = centers[chosen], neighbours[chosen]
        drawn = torch.multinomial(self._noise, _SHARED_NEGATIVES, replacement=True)
        centers, neighbours, drawn = (part.to(self._device) for part in (centers, neighbours, drawn))
        return skipgram_loss(self._model, centers, neighbours, drawn, self._config.skipgram_negatives), len(
            indices
        )


def skipgram_loss(
    model: JointEncoder, centers: Tensor, neighbours: Tensor, drawn: Tensor, negatives: int
) -> Tensor:
    """Return -log s(u v) - `negatives` * E[log s(-u n)], averaged over pairs.

    Args:
        model: has the tables of centers and contexts.
        centers: int64 [P].
        neighbours: int64 [P].
        drawn: int64 [K], negatives of every pair.
        negatives: factor of the expectation.
    """
    tokens, where, counts = centers.unique(return_inverse=True, return_counts=True)
    vectors = model.query.table(tokens)
    right = functional.logsigmoid((vectors[where] * model.context(neighbours)).sum(dim=1)).sum()
    # A pair's score against negatives depends only on its center, so score each distinct center once.
    wrong = (functional.logsigmoid(-vectors @ model.context(drawn).T).mean(dim=1) * counts).sum()
    return -(right + negatives * wrong) / len(centers)


def running_text(samples: Samples, indices: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lay functions end to end, comment before code: the ids and the position in `indices` of each, int64 [T]."""
    texts = [np.concatenate([samples.queries[index], samples.documents[index]]) for index in indices]
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


def make_objective(
    model: JointEncoder, config: TrainConfig, samples: Samples, device: torch.device
) -> Objective:
    """Return the objective of an architecture."""
    if config.architecture == "ncs":
        return SkipGramObjective(model, config, samples, device)
    return PairObjective(model, config, samples, device)
