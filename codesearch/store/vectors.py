"""Document vectors: int8 rows with one scale each. The search is exact, or uses an HNSW graph and scores its results.

The exact search first multiplies all rows by the query rounded to int8. The maximum error of this product is known. So
only documents whose rough similarity is near or above the cut-off are compared with the unrounded query.

vectors.int8         int8     [N, D] unit vectors divided by their scales and rounded
vectors.scales       float32  [N] largest magnitude in each vector / 127
vectors.hnsw         graph, made with `hnswlib` (extra `hnsw`) for segments with at least
                     `VectorConfig.hnsw_threshold` documents
passages.int8, passages.scales and passages.hnsw have the vectors of passages in the same form.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from codesearch.config import VectorConfig
from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import create_private, private
from codesearch.processes import available_cores
from codesearch.store.arrays import map_file
from codesearch.store.digest import check_digest
from codesearch.store.sorting import best_positions, starts_of_runs

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

VECTORS, PASSAGE_VECTORS = "vectors", "passages"
"""Names of the files without their endings, which are `ENDINGS` and `GRAPH`."""
ENDINGS, GRAPH = (".int8", ".scales"), ".hnsw"
_CHUNK = 2_048
_SHARE = 8_192
"""Rows that a thread multiplies at a time. With fewer rows, threads would wait for the interpreter lock."""
_GAP = 512
"""Up to this many consecutive unneeded rows are multiplied, because skipping them would be slower."""
_ROUNDING = 1e-5
"""The maximum float32 rounding error, which adds to the error of a rounded query."""


def quantize(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round unit vectors [B, D] to int8 rows [B, D] and scales [B]; zero vectors stay zero."""
    scales = (np.abs(vectors).max(axis=1, initial=0.0) / 127).astype(np.float32)
    safe = np.where(scales > 0, scales, 1).astype(np.float32)
    rows = vectors / safe[:, None]
    return np.rint(rows, out=rows).astype(np.int8), scales


def hnsw_available() -> bool:
    """Say whether the extra `hnsw` is installed."""
    return find_spec("hnswlib") is not None


def build_graph(
    path: Path, rows: NDArray[np.int8], scales: NDArray[np.float32], config: VectorConfig
) -> None:
    """Write the graph of quantized vectors: int8 [N, D] and float32 [N]."""
    import hnswlib

    count, dim = rows.shape
    graph = hnswlib.Index(space="ip", dim=dim)
    graph.init_index(count, M=config.hnsw_m, ef_construction=config.hnsw_ef_construction, random_seed=0)
    for start in range(0, count, _CHUNK):
        part = slice(start, min(start + _CHUNK, count))
        graph.add_items(rows[part].astype(np.float32) * scales[part, None], np.arange(part.start, part.stop))
    create_private(path)
    graph.save_index(str(path))
    if path.stat().st_size != graph.index_file_size():  # hnswlib does not notice a full device.
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


class VectorWriter:
    """Appends rows to the files, in the order of the documents or of the passages."""

    def __init__(self, segment: Path, dim: int, name: str = VECTORS) -> None:
        self._path = segment / name
        self._dim = dim
        rows, scales = (self._path.with_suffix(ending) for ending in ENDINGS)
        self._rows = open(rows, "wb", opener=private)
        self._scales = open(scales, "wb", opener=private)
        self._count = 0

    def add(self, rows: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        """Append quantized vectors: int8 [B, D] and float32 [B]."""
        self._rows.write(np.ascontiguousarray(rows).data)
        self._scales.write(np.ascontiguousarray(scales).data)
        self._count += len(scales)

    def finish(self, config: VectorConfig) -> None:
        """Close the files; build the graph if there are enough documents and the extra `hnsw` is installed."""
        self.close()
        if self._count >= config.hnsw_threshold and hnsw_available():
            rows = np.memmap(self._rows.name, np.int8, "r", shape=(self._count, self._dim))
            scales = np.fromfile(self._scales.name, np.float32)
            build_graph(self._path.with_suffix(GRAPH), rows, scales, config)

    def close(self) -> None:
        """Close the files."""
        self._rows.close()
        self._scales.close()


class VectorReader:
    """Scores documents against a query vector; higher is better."""

    def __init__(
        self,
        segment: Path,
        count: int,
        dim: int,
        *,
        root: str = "",
        name: str = VECTORS,
        files: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        rows, scales = ((segment / name).with_suffix(ending) for ending in ENDINGS)
        for path, expected in ((rows, count * dim), (scales, count * 4)):
            if not path.exists() or path.stat().st_size != expected:
                raise IndexCorruptError(path, f"not {expected} bytes", root)
        try:
            self.rows = map_file(rows).view(np.int8).reshape(count, dim)
            self.scales = np.fromfile(scales, dtype=np.float32)
        except OSError as error:
            raise unreadable(rows, error, root) from None
        self._graph_path = (segment / name).with_suffix(GRAPH)
        self._graph_entry = (files or {}).get(name + GRAPH)  # Its size and digest in the manifest.
        self._root = root
        self._graph: Any = None

    def __len__(self) -> int:
        return len(self.scales)

    def part(self, rows: slice) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """Return consecutive rows as they are stored: int8 [B, D], and their scales, float32 [B]."""
        return self.rows[rows], self.scales[rows]

    def similarities(
        self, query: NDArray[np.float32], doc_ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Return the cosine of each document, or of those in `doc_ids`, with a unit query [D]: float32 [N].

        Each row is computed separately, so equal vectors have bit-identical similarities at every position.
        """
        count = len(self) if doc_ids is None else len(doc_ids)
        out = np.empty(count, dtype=np.float32)
        buffer = np.empty((min(_CHUNK, count), self.rows.shape[1]), dtype=np.float32)
        for start in range(0, count, _CHUNK):
            part = slice(start, min(start + _CHUNK, count))
            chosen = part if doc_ids is None else doc_ids[part]
            piece = self.rows[chosen]
            chunk = buffer[: len(piece)]
            np.copyto(chunk, piece)
            np.vecdot(chunk, query, out=out[part])
            out[part] *= self.scales[chosen]
        return out

    def highest(
        self, query: NDArray[np.float32], rows: NDArray[np.int64], starts: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Return the cosine with a unit query [D] of the nearest row of each group: float32 [G].

        The groups of `rows` begin at the positions `starts`. The nearest one is chosen by the rounded query.
        """
        from simsimd import cdist

        rounded, _ = quantize(query[None])
        rough = np.asarray(cdist(rounded, self.rows[rows], "dot", out_dtype="float32"))[0] * self.scales[rows]
        groups = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(rows)))
        best = np.flatnonzero(rough == np.maximum.reduceat(rough, starts)[groups])
        first = best[starts_of_runs(groups[best])]
        return self.similarities(query, rows[first])

    def nearest(
        self, query: NDArray[np.float32], count: int, doc_ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return the `count` documents, of all or of `doc_ids`, most similar to a unit query [D], in any order.

        They have the highest values of `similarities`; for ties at the cut-off, the first documents.
        """
        near = may_be_nearest([self], query, count, doc_ids)
        return near[best_positions(self.similarities(query, near), count)]

    @property
    def has_graph(self) -> bool:
        """Say whether an HNSW graph was built and the extra `hnsw` is installed to read it."""
        return self._graph_entry is not None and hnsw_available()

    def neighbours(self, query: NDArray[np.float32], count: int, ef_search: int) -> NDArray[np.int64]:
        """Return the doc_ids of about the `count` nearest documents that the graph finds, in any order."""
        graph = self._open_graph()
        graph.set_ef(max(ef_search, count))
        try:
            labels, _ = graph.knn_query(query[None, :], k=min(count, len(self)))
        except RuntimeError:  # If many vectors are equal, the graph may find fewer than `count`.
            return self.nearest(query, count)
        return np.asarray(labels[0], dtype=np.int64)

    def _open_graph(self) -> Any:  # noqa: ANN401 - hnswlib has no types.
        if self._graph is None:
            if self._graph_entry is not None:  # hnswlib does not detect damaged files.
                check_digest(self._graph_path, self._graph_entry, self._root)
            import hnswlib

            self._graph = hnswlib.Index(space="ip", dim=self.rows.shape[1])
            self._graph.load_index(str(self._graph_path), max_elements=len(self))
        return self._graph


def may_be_nearest(
    parts: Sequence[VectorReader],
    query: NDArray[np.float32],
    count: int,
    doc_ids: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the documents that may be among the `count` most similar to a unit query [D], of all or of ascending ids.

    Ids count through all parts. The cores share the rows of all parts, so no core is idle while another finishes a
    small one.
    """
    from simsimd import cdist

    bases = [0, *accumulate(map(len, parts))]
    if count >= (bases[-1] if doc_ids is None else len(doc_ids)):
        return np.arange(bases[-1]) if doc_ids is None else doc_ids
    rounded, scale = quantize(query[None])
    products = np.empty(bases[-1], np.float32)
    shares = [
        (vectors, base, slice(start, min(start + _SHARE, end)))
        for base, vectors in zip(bases, parts, strict=False)
        for first, end in _spans(len(vectors), base, doc_ids)
        for start in range(first, end, _SHARE)
    ]
    waiting = iter(shares)  # A free thread takes the next share, because cores are rarely equally busy.

    def multiply() -> None:
        for vectors, base, share in waiting:
            # Do not pass `out`: simsimd 6.5 then releases a reference to None that it does not own.
            dots = np.asarray(cdist(rounded, vectors.rows[share], "dot", out_dtype="float32"))[0]
            np.multiply(dots, vectors.scales[share], out=products[base + share.start : base + share.stop])

    rows, others = sum(share.stop - share.start for _, _, share in shares), []
    if (
        rows >= 2 * _SHARE
    ):  # Products release the interpreter lock, so threads multiply at once; this one is one.
        cores = available_cores()
        others = [_threads(cores).submit(multiply) for _ in range(min(cores, rows // _SHARE) - 1)]
    multiply()
    for other in others:
        other.result()
    rough = products if doc_ids is None else products[doc_ids]
    rough *= scale
    longest = 1 + len(query) ** 0.5 / 254  # The length 1, plus half a rounding step in each dimension.
    error = float(longest * np.linalg.norm(query - rounded[0] * scale) + _ROUNDING)
    # The last of the best may be too high and another one too low, so the margin is twice the error.
    near = np.flatnonzero(rough >= rough[best_positions(rough, count)].min() - 2 * error)
    return near if doc_ids is None else doc_ids[near]


def _spans(count: int, base: int, doc_ids: NDArray[np.int64] | None) -> list[tuple[int, int]]:
    """Split a part's ascending ids at gaps larger than `_GAP`; return (first row, last row + 1) of each span."""
    if doc_ids is None:
        return [(0, count)]
    own = doc_ids[slice(*doc_ids.searchsorted([base, base + count]))] - base
    if not len(own):
        return []
    after = np.flatnonzero(np.diff(own) > _GAP)
    first, last = own[[0, *(after + 1)]], own[[*after, -1]]
    return list(zip(first.tolist(), (last + 1).tolist(), strict=True))


@cache
def _threads(count: int) -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(count, "vectors")
