"""Token ids of documents in doc_id order -> vectors, in one loop of the process that writes the segment."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.store.vectors import VectorWriter, quantize
from codesearch.text.encoder import Encoder, TokenIds

_BATCH = 4_096


class Embedder:
    """Collects documents into batches and writes their vectors in the order in which the documents come.

    Attributes:
        embedded: number of texts that the model embedded.
    """

    def __init__(self, encoder: Encoder, writer: VectorWriter) -> None:
        self._encoder, self._writer = encoder, writer
        self._waiting: list[int | tuple[NDArray[np.int8], NDArray[np.float32]]] = []
        self._tokens: list[TokenIds] = []
        self.embedded = 0

    def add(self, tokens: Sequence[TokenIds]) -> None:
        """Add documents, given as token ids."""
        self._waiting.append(len(tokens))
        self._tokens += tokens
        self._flush_much()

    def add_kept(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add documents whose vectors are known: int8 [B, D], float32 [B]."""
        self._waiting.append((rows, scales))
        self._flush_much()

    def finish(self) -> None:
        """Embed and write all documents that were added."""
        rows, scales = quantize(self._encoder.encode_documents(self._tokens))
        start = 0
        for part in self._waiting:
            if isinstance(part, int):
                self._writer.add(rows[start : start + part], scales[start : start + part])
                start += part
            else:
                self._writer.add(*part)
        self.embedded += len(self._tokens)
        self._waiting, self._tokens = [], []

    def _flush_much(self) -> None:
        if len(self._tokens) >= _BATCH or len(self._waiting) >= _BATCH:
            self.finish()
