"""Token ids of documents in doc_id order -> vectors. Vectors in the cache or in a merged segment are reused.

With many parsing processes, other processes embed. Otherwise the process that collects the results would be too slow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.build.cache import VectorCache
from codesearch.build.file_parser import join_tokens, split_tokens
from codesearch.build.workers import WorkerDiedError, Workers, WorkerStartError
from codesearch.cores import available_cores
from codesearch.errors import IndexWriteError
from codesearch.store.vectors import VectorWriter, quantize
from codesearch.text.encoder import Encoder, TokenIds

_BATCH = 4_096
_CORES_A_PROCESS = 6
"""Number of cores for each embedding process (docs/speed.md)."""
Part = list[bytes] | tuple[NDArray[np.int8], NDArray[np.float32]]


def embedding_processes() -> int:
    """Return how many processes should embed a large tree; 0 with few cores, where the main process embeds."""
    return available_cores() // _CORES_A_PROCESS


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of a batch.

    Attributes:
        rows: int8 [B, D].
        scales: float32 [B].
        new: how many of them were not in the cache.
    """

    rows: NDArray[np.int8]
    scales: NDArray[np.float32]
    new: int


class CachedEncoder:
    """A model with a cache if it is costly. The model embeds each distinct text of a batch at most once."""

    def __init__(self, home: Path, encoder: Encoder) -> None:
        self._encoder = encoder
        self._cache = VectorCache(home, encoder.model_id, encoder.dim) if encoder.is_costly else None

    def embed(self, texts: Mapping[bytes, TokenIds]) -> Embedded:
        """Embed texts [B], given as digest of the ids -> ids."""
        if self._cache is None:
            return Embedded(*quantize(self._encoder.encode_documents(list(texts.values()))), len(texts))
        rows = np.empty((len(texts), self._encoder.dim), np.int8)
        scales = np.empty(len(texts), np.float32)
        known = self._cache.find(list(texts))
        new = [position for position, digest in enumerate(texts) if digest not in known]
        if new:
            missing = {digest: ids for digest, ids in texts.items() if digest not in known}
            made = quantize(self._encoder.encode_documents(list(missing.values())))
            self._cache.add(list(missing), *made)
            rows[new], scales[new] = made
        for position, digest in enumerate(texts):
            if digest in known:
                rows[position], scales[position] = known[digest]
        return Embedded(rows, scales, len(new))

    def close(self) -> None:
        """Close the cache."""
        if self._cache:
            self._cache.close()


class Embedder:
    """Collects documents into batches and writes their vectors.

    Attributes:
        embedded: number of texts that the model embedded.
        cached: number of documents with token ids that reuse a vector, from the cache or from an equal document.
    """

    def __init__(self, home: Path, encoder: Encoder, processes: int = 0) -> None:
        """Open the cache and start the processes."""
        self._writer: VectorWriter
        # Open the cache here even if other processes embed, so that none of them finds an incomplete file.
        self._here = CachedEncoder(home, encoder)
        self._processes = Workers(processes, _open_encoder, home, encoder) if processes else None
        self._ahead = processes
        self._waiting: list[Part] = []
        self._tokens: dict[bytes, TokenIds] = {}
        self._flying: deque[tuple[Future[Embedded], list[bytes], list[Part]]] = deque()
        self.embedded = 0
        self.cached = 0

    def start(self, writer: VectorWriter) -> None:
        """Write the vectors of all documents that are added from now on to `writer`, in the same order."""
        self._writer = writer

    def add(self, digests: Sequence[bytes], tokens: Sequence[TokenIds]) -> None:
        """Add documents, given as digests of their token ids and the ids."""
        self._waiting.append(list(digests))
        self._tokens.update(zip(digests, tokens, strict=True))
        self._flush_much()

    def add_kept(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Add documents whose vectors are known: int8 [B, D], float32 [B]."""
        self._waiting.append((rows, scales))
        self._flush_much()

    def finish(self) -> None:
        """Embed and write all documents that were added."""
        self._flush()
        while self._flying:
            self._write()

    def close(self) -> None:
        """Stop the processes and close the cache; unfinished batches are lost."""
        if self._processes:
            self._processes.close()
        self._here.close()

    def _flush_much(self) -> None:
        if len(self._tokens) >= _BATCH or len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self._flying.append((self._embed(self._tokens), list(self._tokens), self._waiting))
        self._waiting, self._tokens = [], {}
        while len(self._flying) > self._ahead:
            self._write()

    def _embed(self, texts: Mapping[bytes, TokenIds]) -> Future[Embedded]:
        if self._processes:
            return self._processes.submit((list(texts), *join_tokens(texts.values())))
        done: Future[Embedded] = Future()
        done.set_result(self._here.embed(texts))
        return done

    def _write(self) -> None:
        """Wait for the oldest submitted batch and write it."""
        embedded, digests, parts = self._flying.popleft()
        try:
            found = embedded.result()
        except (WorkerDiedError, WorkerStartError):
            raise IndexWriteError(
                "an embedding process was stopped, probably because memory ran out",
                "free some and run `codesearch index` again",
            ) from None
        place = {digest: position for position, digest in enumerate(digests)}
        for part in parts:
            if isinstance(part, tuple):
                self._writer.add(*part)
            elif part:
                positions = [place[digest] for digest in part]
                self._writer.add(found.rows[positions], found.scales[positions])
                self.cached += len(part)
        self.cached -= found.new
        self.embedded += found.new


_Batch = tuple[list[bytes], NDArray[np.uint32], list[int]]
"""Digests of texts, the ids of all texts in one array, and the number of ids of each text."""


def _open_encoder(home: Path, encoder: Encoder) -> Callable[[_Batch], Embedded]:
    cached = CachedEncoder(home, encoder)

    def embed(batch: _Batch) -> Embedded:
        digests, tokens, lengths = batch
        return cached.embed(dict(zip(digests, split_tokens(tokens, lengths), strict=True)))

    return embed
