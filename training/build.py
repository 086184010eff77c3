"""Settings and pairs -> an untrained model, or one that starts from the vectors of a bundle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from codesearch.text.bundle import DOCUMENT, QUERY, Bundle, read_manifest
from training.config import TrainConfig
from training.encoders.joint import SHARED, JointEncoder
from training.files import TrainingError
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
        idf = np.log((sum(len(samples.documents) for samples in train) + 1) / (df + 1)) + 0.1
        model.set_idf(torch.from_numpy(np.log(idf).astype(np.float32)), config.idf_power)
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


def fitting_config(config: TrainConfig, bundle: Bundle) -> TrainConfig:
    """Return the settings with the sizes of a bundle."""
    if not {QUERY, DOCUMENT} <= bundle.rows.keys() or bundle.document_graphs:
        raise TrainingError(
            f"{bundle.folder}: not a bag with one encoder of documents: give a bundle of nbow"
        )
    if (config.architecture, config.code_encoders) != ("nbow", "shared"):
        raise TrainingError(
            f"architecture {config.architecture}: only nbow with shared code encoders starts from a bundle"
        )
    return replace(
        config,
        dim=bundle.dim,
        initial_vectors=read_manifest(bundle.folder).get("initial_vectors", "noise"),
        pooling="token-weights",
        query_pooling="",
        count_power=1.0 + bundle.rows[DOCUMENT].get("repeat_power", 0.0),
        max_query_tokens=bundle.max_query_tokens,
        max_document_tokens=bundle.max_document_tokens,
    )


def start_from(model: JointEncoder, bundle: Bundle) -> None:
    """Give both sides the vectors of a bundle, with equal token weights."""
    for tower, file in ((model.query, QUERY), (model.documents[SHARED], DOCUMENT)):
        rows = _rows(bundle, file)
        rows /= np.median(np.linalg.norm(rows, axis=1))
        tower.table.weight.data.copy_(torch.from_numpy(rows))
        tower.log_weight.data.zero_()


def _rows(bundle: Bundle, file: str) -> np.ndarray:
    """Return the vectors of a graph, each multiplied by its weight: float32 [V, D]."""
    table, weights = (
        np.memmap(bundle.folder / file, place["dtype"], "r", place["offset"], tuple(place["shape"])).astype(
            np.float32
        )
        for place in (bundle.rows[file]["table"], bundle.rows[file]["weights"])
    )
    return table * weights[:, None]
