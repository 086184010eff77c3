"""Compare the approximate search of vectors with the exact one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from codesearch.config import RankConfig
from codesearch.evaluation.collection import Collection
from codesearch.index.snapshot import Snapshot
from codesearch.segments.topk import best_positions

_DEPTHS = (10, 100)
_LAST_BITS = 1e-6
"""Tolerance for documents of equal vectors, whose sums differ in the order of addition."""


def approximation_loss(collection: Collection, queries: Iterable[str]) -> dict[str, Any]:
    """Compare the nearest documents of the graph with the true ones, without filters.

    Returns:
        `in_use`, whether there is a graph. If so, also `recall_at_10` and `recall_at_100`: the mean share of the true
        nearest documents, or of equally near ones, that the graph finds. The searches of the suites have a language
        filter and are always exact.
    """
    snapshot = Snapshot([collection.index])
    if not any(segment.vectors.has_graph for segment in snapshot.segments):
        return {"in_use": False}
    everything = np.arange(snapshot.size)
    embeddings = collection.encoder.encode_queries(list(dict.fromkeys(queries)))
    shares: dict[int, list[float]] = {depth: [] for depth in _DEPTHS}
    for embedding in embeddings:
        exact = snapshot.similarities(embedding, everything)
        for depth in _DEPTHS:
            nearest = best_positions(exact, depth)
            near = snapshot.nearest(embedding, depth, None, RankConfig().hnsw_ef_search)
            found = near[best_positions(exact[near], depth)]
            as_near = exact[found] >= exact[nearest].min() - _LAST_BITS
            shares[depth].append(as_near.sum() / len(nearest))
    return {
        "in_use": True,
        **{f"recall_at_{depth}": float(np.mean(share)) for depth, share in shares.items()},
    }
