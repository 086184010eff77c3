"""An HNSW graph over vectors, made with `hnswlib` (extra `hnsw`).

vectors.hnsw    written for segments with at least `VectorConfig.hnsw_threshold` documents
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig

GRAPH_FILE = "vectors.hnsw"
_CHUNK = 2_048


def hnsw_available() -> bool:
    """Say whether the extra `hnsw` is installed."""
    from importlib.util import find_spec

    return find_spec("hnswlib") is not None


def build_graph(
    path: Path, rows: NDArray[np.int8], scales: NDArray[np.float32], config: VectorConfig
) -> None:
    """Write the graph of quantized vectors: int8 [N, D] and float32 [N].

    Raises:
        OSError: the file cannot be written.
    """
    import hnswlib

    count, dim = rows.shape
    graph = hnswlib.Index(space="ip", dim=dim)
    graph.init_index(count, M=config.hnsw_m, ef_construction=config.hnsw_ef_construction, random_seed=0)
    for start in range(0, count, _CHUNK):
        part = slice(start, min(start + _CHUNK, count))
        graph.add_items(rows[part].astype(np.float32) * scales[part, None], np.arange(part.start, part.stop))
    graph.save_index(str(path))
    if path.stat().st_size != graph.index_file_size():  # hnswlib does not notice a full device.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def open_graph(path: Path, count: int, dim: int) -> Any:  # noqa: ANN401 - hnswlib has no types.
    """Load the graph of `count` vectors of length `dim`."""
    import hnswlib

    graph = hnswlib.Index(space="ip", dim=dim)
    graph.load_index(str(path), max_elements=count)
    return graph
