"""A model in training and held-out pairs of its sources -> the figures of an epoch."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import torch

from training.batches import SourceDataset
from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.errors import TrainingError
from training.evaluation.mrr import POOL, mrr_by_language, with_average

_LEAST_POOL = 2
_log = logging.getLogger(__name__)


def held_out(datasets: Sequence[SourceDataset], pool: int = POOL) -> list[tuple[SourceDataset, int]]:
    """Return the sources that hold out pairs, with the number of pairs of a validation pool.

    It is smaller than `pool` if no language has as many.

    Raises:
        TrainingError: no source holds out two pairs of one language.
    """
    found = []
    for dataset in datasets:
        largest = max(np.bincount(dataset.samples.languages).tolist(), default=0)
        if largest >= _LEAST_POOL:
            found.append((dataset, min(pool, largest)))
            if largest < pool:
                _log.warning(
                    "validation pools of %s have %d pairs, not %d: MRR is higher than published figures",
                    dataset.source.name,
                    largest,
                    pool,
                )
    if not found:
        count = sum(len(dataset.samples) for dataset in datasets)
        raise TrainingError(f"{count} validation pairs: give a corpus with at least two of one language")
    return found


def validate(
    model: JointEncoder,
    datasets: Sequence[tuple[SourceDataset, int]],
    config: TrainConfig,
    device: torch.device,
) -> dict[str, float]:
    """Return the MRR of each source and their mean; with a single source, that of its languages."""
    found = [
        mrr_by_language(model, dataset.samples, pool, config.validation_pools, device)
        for dataset, pool in datasets
    ]
    if len(found) == 1:
        return found[0]
    return with_average(
        {dataset.source.name: its["average"] for (dataset, _), its in zip(datasets, found, strict=True)}
    )
