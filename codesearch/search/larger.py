"""The head of a ranking -> cosines by the vectors of a larger encoder, for as many documents as have one.

    score += larger_weight * larger cosine

A document without a vector is taken to have the cosine that its first one lets expect. So it stands beside those that
have one, in an index that is half upgraded as beyond the head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.encoding.encoder import Encoder
from codesearch.index.cache import VectorCache, cache_path
from codesearch.index.reader import IndexReader
from codesearch.search.fusion import Pool
from codesearch.search.hydrate import stored_documents

SIGNAL = "larger_cosine"


class SecondCosines(Protocol):
    """Where second cosines come from."""

    def cosines(self, query: str, digests: Sequence[bytes]) -> dict[bytes, float]:
        """Compare a query with those texts that have a vector."""
        ...


class LargerModel:
    """The vectors that were made so far, and the encoder that made them, each opened when it is first needed."""

    def __init__(self, home: Path, model_id: str, dim: int, load: Callable[[], Encoder]) -> None:
        """Name what is opened later.

        Args:
            home: where the cache of vectors lives.
            model_id: of the larger encoder.
            dim: length of its embeddings.
            load: opens it.
        """
        self._home, self._model_id, self._dim = home, model_id, dim
        self._load = load

    def cosines(self, query: str, digests: Sequence[bytes]) -> dict[bytes, float]:
        """Compare a query with the texts that have a vector; without any, nothing is loaded."""
        found = self._cache.find(list({*digests})) if self._cache else {}
        if not found:
            return {}
        vector = self._encoder.encode_queries([query])[0]
        rows = np.stack([row for row, _ in found.values()]).astype(np.float32)
        scales = np.array([scale for _, scale in found.values()], np.float32)
        return dict(zip(found, (rows @ vector * scales).tolist(), strict=True))

    @cached_property
    def _cache(self) -> VectorCache | None:
        if not cache_path(self._home, self._model_id).exists():
            return None
        return VectorCache(self._home, self._model_id, self._dim)

    @cached_property
    def _encoder(self) -> Encoder:
        return self._load()


def add_larger(
    query: str, pool: Pool, indexes: Sequence[IndexReader], larger: SecondCosines, config: RankConfig
) -> None:
    """Add the signal to the head of a ranking; where nothing there has a vector, leave it as it is."""
    head = pool.order()[: config.larger_count]
    digests = _digests(pool, head, indexes)
    cosines = larger.cosines(query, digests)
    if not cosines:
        return
    positions = np.array(
        [place for place, digest in zip(head, digests, strict=True) if digest in cosines], int
    )
    found = np.array([cosines[digest] for digest in digests if digest in cosines], np.float32)
    base, slope = config.larger_expected
    signal = np.float32(base) + np.float32(slope) * pool.signals["cosine"]
    signal[positions] = found
    weight = config.larger_weight
    pool.add_signal(SIGNAL, np.arange(len(signal)), signal, reward=weight, penalty=weight)


def _digests(pool: Pool, head: NDArray[np.intp], indexes: Sequence[IndexReader]) -> list[bytes]:
    """Return what the text of each document at the head hashes to."""
    places = zip(pool.indexes[head].tolist(), pool.doc_ids[head].tolist(), strict=True)
    return [row[-1] for _, row in stored_documents(indexes, list(places))]
