"""Trained model and exported bundle -> the difference of their embeddings of the same texts.

fp32 must agree within `FP32_TOLERANCE`. With fp16 and int8, the cosine must be at least `SMALL_COSINE`. A text must
have the same embedding alone, without padding, as in a padded batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from codesearch.text.bundle import QUERY
from codesearch.text.onnx import open_session
from codesearch.text.tokenizer import padded
from exporters.onnx import Dtype, graph_names
from training.files import TrainingError
from training.pipeline import load_run

FP32_TOLERANCE = 1e-4
SMALL_COSINE = 0.998
BATCH_TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class Parity:
    """Torch against ONNX over all texts of one graph; `batch_diff` is a text alone against a padded batch."""

    max_abs_diff: float
    min_cosine: float
    batch_diff: float


def check_parity(run: Path, bundle: Path, dtype: Dtype, texts: Sequence[str]) -> dict[str, Parity]:
    """Compare all sides of a run with its bundle."""
    model, tokenizer, config = load_run(run)
    sides = [(QUERY, model.query, config.max_query_tokens)]
    sides += [
        (file, model.documents[name], config.max_document_tokens) for name, file in graph_names(model).items()
    ]
    found = {}
    for file, tower, limit in sides:
        found[file] = measure(
            tower, bundle / file, *padded([tokenizer.encode(text, limit) for text in texts])
        )
        require(file, found[file], dtype)
    return found


def require(file: str, parity: Parity, dtype: Dtype) -> None:
    """Raise TrainingError if `parity` exceeds the limits of `dtype`."""
    within = parity.max_abs_diff <= FP32_TOLERANCE if dtype == "fp32" else parity.min_cosine > SMALL_COSINE
    for fault, what, difference in (
        (parity.batch_diff > BATCH_TOLERANCE, "depends on batch or padding", parity.batch_diff),
        (not within, "is not the trained model", parity.max_abs_diff),
    ):
        if fault:
            raise TrainingError(f"{file} {what}: largest difference {difference:.2e}: export the run again")


def measure(tower: nn.Module, path: Path, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Parity:
    """Embed [B, T] ids with torch and with ONNX, in one batch, and one by one without padding."""
    session = open_session(path, "cpu", threads=0)

    def embed(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0])

    with torch.inference_mode():
        expected = tower(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    found = embed(ids, mask)
    lengths = np.maximum(1, mask.sum(axis=1))
    alone = [
        embed(ids[row : row + 1, :width], mask[row : row + 1, :width]) for row, width in enumerate(lengths)
    ]
    batch_diff = np.abs(found - np.concatenate(alone)).max()
    tokens = mask.any(axis=1)
    cosines = (expected * found).sum(axis=1)[tokens]
    return Parity(float(np.abs(expected - found).max()), float(cosines.min(initial=1)), float(batch_diff))
