"""The protocol of encoders: what an index needs from a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.text.tokenizer import SubtokenTokenizer

TokenIds = NDArray[np.uint32]


class Encoder(Protocol):
    """What an index needs from a model. Tests implement it with a hash function.

    Attributes:
        model_id: identifies the weights; vectors of different ids are not comparable.
        dim: length of an embedding, D.
        device: where the model runs, "cpu" or "cuda".
        tokenizer: makes the ids that `encode_documents` takes.
        tokenizer_path: the tokenizer's `tokenizer.json`, for other processes.
        max_document_tokens: longer documents are cut to this many ids.
        is_costly: whether embedding takes most of the time of an index.
    """

    model_id: str
    name: str
    dim: int
    device: str
    tokenizer: SubtokenTokenizer
    tokenizer_path: Path
    max_document_tokens: int
    is_costly: bool

    def encode_queries(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Embed queries: float32 [B, D], unit length."""
        ...

    def encode_documents(self, documents: Sequence[TokenIds]) -> NDArray[np.float32]:
        """Embed documents given as token ids: float32 [B, D], unit length, in the same order."""
        ...
