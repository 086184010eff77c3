"""What the approximate search of vectors loses against the exact one."""

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
"""Documents of one vector tie, but for the order in which they are added up."""


def approximation_loss(collection: Collection, queries: Iterable[str]) -> dict[str, Any]:
    """Compare the graph's nearest documents with the true ones, without filters, where there is a graph.

    Returns:
        `in_use`; and, where it is, `recall_at_10` and `recall_at_100`, the mean share of the true nearest documents,
        or of some as near, that the graph finds. A search with a language filter, as the suites
        make, scans exactly in any case.
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
