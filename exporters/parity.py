"""Trained model and exported bundle -> how far their embeddings of the same texts are apart.

fp32 must agree within `FP32_TOLERANCE`; int8 rows must keep `INT8_COSINE` of each direction. Both must give a text
the same embedding alone, in a batch, and with padding behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from codesearch.encoding.tokenizer import SubtokenTokenizer
from exporters.errors import ParityError
from exporters.onnx import Dtype
from training.encoders.nbow import BagTower
from training.pipeline import load_run

FP32_TOLERANCE = 1e-4
INT8_COSINE = 0.998
BATCH_TOLERANCE = 1e-5
_EXTRA_PADDING = 7


@dataclass(frozen=True, slots=True)
class Parity:
    """What was seen over all texts of one side.

    Attributes:
        max_abs_diff: torch against ONNX.
        min_cosine: torch against ONNX.
        batch_diff: largest difference between a text alone, in a batch, and padded further.
    """

    max_abs_diff: float
    min_cosine: float
    batch_diff: float


def check_parity(run: Path, bundle: Path, dtype: Dtype, texts: Sequence[str]) -> dict[str, Parity]:
    """Compare both sides of a run with its bundle.

    Raises:
        ParityError: a side is further off than its dtype allows.
    """
    model, tokenizer, config = load_run(run)
    found = {}
    for side, tower, limit in (
        ("query", model.query, config.max_query_tokens),
        ("document", model.document, config.max_document_tokens),
    ):
        ids, mask = padded_texts(texts, tokenizer, limit)
        found[side] = measure(tower, bundle / f"{side}.onnx", ids, mask)
        require(side, found[side], dtype)
    return found


def require(side: str, parity: Parity, dtype: Dtype) -> None:
    """Raise ParityError unless `parity` is within what `dtype` allows."""
    if parity.batch_diff > BATCH_TOLERANCE:
        raise ParityError(f"{side}.onnx depends on batch or padding", parity.batch_diff)
    within = parity.max_abs_diff <= FP32_TOLERANCE if dtype == "fp32" else parity.min_cosine > INT8_COSINE
    if not within:
        raise ParityError(f"{side}.onnx is not the trained model", parity.max_abs_diff)


def measure(tower: BagTower, path: Path, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> Parity:
    """Embed [B, T] ids by torch and by ONNX, in one batch, one by one and with more padding."""
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def embed(ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})[0])

    with torch.inference_mode():
        expected = tower(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    found = embed(ids, mask)
    alone = np.concatenate([embed(ids[row : row + 1], mask[row : row + 1]) for row in range(len(ids))])
    wider = [np.pad(array, ((0, 0), (0, _EXTRA_PADDING))) for array in (ids, mask)]
    batch_diff = max(np.abs(found - alone).max(), np.abs(found - embed(*wider)).max())
    tokens = mask.any(axis=1)
    cosines = (expected * found).sum(axis=1)[tokens]
    return Parity(float(np.abs(expected - found).max()), float(cosines.min(initial=1)), float(batch_diff))


def padded_texts(
    texts: Sequence[str], tokenizer: SubtokenTokenizer, max_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tokenize texts into padded ids and mask, int64 [B, T]."""
    encoded = [tokenizer.encode(text, max_tokens) for text in texts]
    width = max(1, *(len(ids) for ids in encoded))
    padded, mask = (np.zeros((len(texts), width), dtype=np.int64) for _ in range(2))
    for row, ids in enumerate(encoded):
        padded[row, : len(ids)] = ids
        mask[row, : len(ids)] = 1
    return padded, mask
