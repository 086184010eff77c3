"""Settings and pairs -> an untrained model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.samples import Samples

_DOCUMENTS = 50_000
"""Documents whose tokens are counted at once."""


def build_model(
    config: TrainConfig, vocabulary_size: int, train: Sequence[Samples] = (), languages: Sequence[str] = ()
) -> JointEncoder:
    """Make an untrained model; if `train` is given, weights of tokens start from its idf."""
    torch.manual_seed(config.seed)
    names = sorted({name for samples in train for name in samples.language_names}) or languages
    model = JointEncoder(config, vocabulary_size, names)
    if train:
        df, counts = token_counts(train, vocabulary_size)
        model.set_idf(log_idf(df, sum(len(samples.documents) for samples in train)), config.idf_power)
        model.set_shares(torch.from_numpy((counts / max(1, counts.sum())).astype(np.float32)))
    return model


def token_counts(
    train: Sequence[Samples], vocabulary_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the documents that have each token, and how often each token occurs in documents: int64 [V] each."""
    df, counts = np.zeros((2, vocabulary_size), np.int64)
    for documents in (samples.documents for samples in train):
        for first in range(0, len(documents), _DOCUMENTS):
            starts = documents.starts[first : first + _DOCUMENTS + 1]
            ids = documents.ids[starts[0] : starts[-1]].astype(np.int64)
            owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            counts += np.bincount(ids, minlength=vocabulary_size)
            df += np.bincount(
                np.unique(owners * vocabulary_size + ids) % vocabulary_size, minlength=vocabulary_size
            )
    return df, counts


def log_idf(df: NDArray[np.int64], documents: int) -> Tensor:
    """Compute the log of log(N / df) of each token: float32 [V], lowest for frequent tokens."""
    idf = np.log((documents + 1) / (df + 1)) + 0.1
    return torch.from_numpy(np.log(idf).astype(np.float32))
