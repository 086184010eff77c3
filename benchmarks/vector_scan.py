"""Exact scan of int8 rows against HNSW candidates re-scored exactly: time a query, build time, recall (ADR 002).

Vectors are drawn around random centres, for encoders' vectors cluster and uniform noise has no neighbours.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.record import median_ms, record
from codesearch.config import VectorConfig
from codesearch.segments.vectors import GRAPH_FILE, VectorReader, VectorWriter, quantize

DIM, TOP_K, QUERIES = 256, 10, 50


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[20_000, 100_000, 500_000])
    record("vector_scan", [measure(size) for size in parser.parse_args().sizes])


def measure(count: int) -> dict[str, float]:
    """Build both forms over `count` vectors and query them."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((2_000, DIM)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        generation = Path(folder)
        writer = VectorWriter(generation, DIM)
        for start in range(0, count, 10_000):
            noise = random.standard_normal((min(10_000, count - start), DIM)).astype(np.float32)
            vectors = centres[random.integers(0, len(centres), len(noise))] + 0.7 * noise
            writer.add(*quantize(vectors / np.linalg.norm(vectors, axis=1, keepdims=True)))
        config = VectorConfig(hnsw_threshold=1)
        started = time.perf_counter()
        writer.finish(config)
        build_s = time.perf_counter() - started
        reader = VectorReader(
            generation, count, DIM, graph_entry={"sha256": _sha256(generation / GRAPH_FILE)}
        )
        queries = centres[:QUERIES] + 0.7 * random.standard_normal((QUERIES, DIM)).astype(np.float32)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
        found = [_top(reader, query, reader.neighbours(query, 1_000, config)) for query in queries]
        exact = [_top(reader, query, None) for query in queries]
        return {
            "documents": count,
            "exact_ms": median_ms(lambda: reader.nearest(queries[0], 1_000)),
            "hnsw_ms": median_ms(
                lambda: _top(reader, queries[0], reader.neighbours(queries[0], 1_000, config))
            ),
            "hnsw_build_s": round(build_s, 1),
            "hnsw_recall_at_10": round(
                float(np.mean([len(set(a) & set(b)) / TOP_K for a, b in zip(found, exact, strict=True)])), 4
            ),
            "vectors_mb": round((generation / "vectors.int8").stat().st_size / 1e6, 1),
            "graph_mb": round((generation / GRAPH_FILE).stat().st_size / 1e6, 1),
        }


def _top(reader: VectorReader, query: np.ndarray, doc_ids: np.ndarray | None) -> list[int]:
    scores = reader.similarities(query, doc_ids)
    best = np.argsort(-scores, kind="stable")[:TOP_K]
    return (best if doc_ids is None else doc_ids[best]).tolist()


def _sha256(path: Path) -> str:
    import hashlib

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
