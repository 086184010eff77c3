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

    Equal texts of a batch are embedded once: padding can change the last bit of a vector, and copies must rank alike.

    Attributes:
        embedded: number of texts that the model embedded.
    """

    def __init__(self, encoder: Encoder, writer: VectorWriter) -> None:
        self._encoder, self._writer = encoder, writer
        self._waiting: list[list[int] | tuple[NDArray[np.int8], NDArray[np.float32]]] = []
        self._tokens: list[TokenIds] = []
        self._rows: dict[bytes, int] = {}  # Text -> its position in `_tokens`.
        self.embedded = 0

    def add(self, tokens: Sequence[TokenIds]) -> None:
        """Add documents, given as token ids."""
        rows = []
        for ids in tokens:
            text = ids.tobytes()
            if text not in self._rows:
                self._rows[text] = len(self._tokens)
                self._tokens.append(ids)
            rows.append(self._rows[text])
        self._waiting.append(rows)
        self._flush_much()

    def add_kept(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add documents whose vectors are known: int8 [B, D], float32 [B]."""
        self._waiting.append((rows, scales))
        self._flush_much()

    def finish(self) -> None:
        """Embed and write all documents that were added."""
        rows, scales = quantize(self._encoder.encode_documents(self._tokens))
        for part in self._waiting:
            if isinstance(part, list):
                self._writer.add(rows[part], scales[part])
            else:
                self._writer.add(*part)
        self.embedded += len(self._tokens)
        self._waiting, self._tokens, self._rows = [], [], {}

    def _flush_much(self) -> None:
        if len(self._tokens) >= _BATCH or len(self._waiting) >= _BATCH:
            self.finish()
