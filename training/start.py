"""A bundle of a bag -> a model that starts from its vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from codesearch.text.bundle import DOCUMENT, QUERY, Bundle, read_manifest
from training.config import TrainConfig
from training.encoders.joint import SHARED, JointEncoder
from training.errors import TrainingError


def fitting_config(config: TrainConfig, bundle: Bundle) -> TrainConfig:
    """Return the settings with the sizes of a bundle.

    Raises:
        TrainingError: the bundle is no bag with one encoder of documents, or the settings are for something else.
    """
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
