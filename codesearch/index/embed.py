"""Token ids of documents, in doc_id order -> vectors, each distinct text through the model at most once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.encoding.encoder import Encoder, TokenIds
from codesearch.index.cache import VectorCache
from codesearch.index.vectors import VectorWriter, quantize

_BATCH = 4_096


class Embedder:
    """Gathers documents into batches; what the cache or the last generation has is not embedded."""

    def __init__(self, encoder: Encoder, cache: VectorCache, writer: VectorWriter) -> None:
        self._encoder, self._cache, self._writer = encoder, cache, writer
        self._waiting: list[list[bytes] | tuple[NDArray[np.int8], NDArray[np.float32]]] = []
        self._tokens: dict[bytes, TokenIds] = {}
        self.embedded = 0
        self.cached = 0

    def add(self, digests: Sequence[bytes], tokens: Sequence[TokenIds]) -> None:
        """Add documents by the digest of their ids and the ids."""
        self._waiting.append(list(digests))
        self._tokens.update(zip(digests, tokens, strict=True))
        self._flush_much()

    def add_kept(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add documents whose vectors are known: int8 [B, D], float32 [B]."""
        self._waiting.append((rows, scales))
        self._flush_much()

    def _flush_much(self) -> None:
        if len(self._tokens) >= _BATCH or len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Embed and write what waits."""
        known = self._cache.find(list(self._tokens))
        missing = [digest for digest in self._tokens if digest not in known]
        if missing:
            rows, scales = quantize(self._encoder.encode_documents([self._tokens[key] for key in missing]))
            self._cache.add(missing, rows, scales)
            known.update(zip(missing, zip(rows, scales, strict=True), strict=True))
        for part in self._waiting:
            if isinstance(part, tuple):
                self._writer.add(*part)
            elif part:
                vectors = [known[digest] for digest in part]
                self._writer.add(
                    np.stack([row for row, _ in vectors]),
                    np.array([scale for _, scale in vectors], np.float32),
                )
                self.cached += len(part)
        self.cached -= len(missing)
        self.embedded += len(missing)
        self._waiting.clear()
        self._tokens.clear()
