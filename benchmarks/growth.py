"""Indexes of growing size, searched exactly and by HNSW -> `results/growth.json`, tables of docs/dev/scale.md.

The product indexes and searches trees of real and renamed functions (`benchmarks.renamed`). Each step runs in a
separate process, so its memory is measured separately. Measured steps are not repeated, so a run can be stopped and
started again.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import folder_mb, measured, quantiles, seconds_of
from benchmarks.publish import DEV_DOCS, fill, line, record, shown
from benchmarks.renamed import write_renamed
from benchmarks.speed import described
from codesearch.config import RankConfig, VectorConfig
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.search.request import SearchRequest
from codesearch.store.catalogue import index_folder
from codesearch.store.digest import describe_files
from codesearch.store.manifest import commit_manifest, read_manifest
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.sorting import best_positions
from codesearch.store.vectors import GRAPH, VECTORS, build_graph
from codesearch.text.onnx import OnnxEncoder

PAGE = DEV_DOCS / "scale.md"
_NO_GRAPH = VectorConfig(hnsw_threshold=1 << 40)
_STEP_S = 1_800
_CHECKS = 7
"""How often the check for changed files is timed."""
_LAST_BITS = 1e-6
"""Tolerance for documents of equal vectors, whose sums differ in the order of addition."""


def main() -> None:
    """Run one step, or all of them in separate processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, help="folder of real source files")
    parser.add_argument("queries", type=Path, help="CSV with a column `query`")
    parser.add_argument("--sizes", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument(
        "--work", type=Path, default=Path("build/growth"), help="folder for trees and indexes"
    )
    parser.add_argument("--graph-up-to", type=int, default=1_000_000, help="largest size to make a graph of")
    parser.add_argument("--step", choices=sorted(STEPS), help="run only this step, for the one size given")
    options = parser.parse_args()
    if options.step:
        place = options.work.resolve() / str(options.sizes[0])
        print(json.dumps(STEPS[options.step](options, place)))
        return
    rows = [measure(size, options) for size in options.sizes]
    record("growth", {"growth": rows}, flat=True)
    fill(PAGE, "build", build_table(rows))
    fill(PAGE, "query", query_table(rows))


def measure(size: int, options: argparse.Namespace) -> dict[str, Any]:
    """Run the steps of a size that have no result yet."""
    row: dict[str, Any] = {"size": size}
    for name in STEPS:
        if "hnsw" in name and size > options.graph_up_to:
            continue
        done = options.work / str(size) / f"{name}.json"
        if not done.exists():
            done.parent.mkdir(parents=True, exist_ok=True)
            own = ["--sizes", str(size), "--work", options.work, "--step", name]
            command = [sys.executable, "-m", "benchmarks.growth", options.sources, options.queries, *own]
            print(f"{size:,}: {name}", file=sys.stderr)
            usage = measured(command, timeout_s=_STEP_S)
            if usage.code:
                sys.exit(usage.output)
            done.write_text(json.dumps({**described(usage), **json.loads(usage.output.splitlines()[0])}))
        row[name] = json.loads(done.read_text())
    return row


def _write_tree(options: argparse.Namespace, place: Path) -> dict[str, Any]:
    files = write_renamed(options.sources, place / "tree", options.sizes[0])
    return {"files": files, "source_mb": folder_mb(place / "tree")}


def _build_exact(options: argparse.Namespace, place: Path) -> dict[str, Any]:
    home = place / "home"
    shutil.rmtree(home, ignore_errors=True)
    report = Engine(home, device="cpu", vectors=_NO_GRAPH).index(place / "tree", optimize=True)
    (segment,) = read_manifest(index_folder(home, place / "tree")).segments
    sizes = {name: entry["bytes"] for name, entry in segment.files.items()}
    return {
        "documents": report.documents,
        "index_mb": round(sum(sizes.values()) / 1e6, 1),
        "vectors_mb": round(sizes["vectors.int8"] / 1e6, 1),
    }


def _add_graph(options: argparse.Namespace, place: Path) -> dict[str, Any]:
    folder = index_folder(place / "home", place / "tree")
    manifest = read_manifest(folder)
    (entry,) = manifest.segments
    path = folder / entry.folder / (VECTORS + GRAPH)
    index = IndexReader.open(folder)
    vectors = index.segments[0].vectors
    build_graph(path, vectors.rows, vectors.scales, VectorConfig())
    index.close()
    entry = replace(entry, files=describe_files(path.parent))
    commit_manifest(folder, replace(manifest, segments=[entry]))
    return {"graph_mb": round(path.stat().st_size / 1e6, 1)}


def _query(options: argparse.Namespace, place: Path) -> dict[str, Any]:
    """Ask the queries in process; time the first one, which maps and loads the index, and the check separately."""
    engine = Engine(place / "home", device="cpu")
    with open(options.queries, encoding="utf-8") as file:
        requests = [SearchRequest(row["query"], 10) for row in csv.DictReader(file)]
    first_s = seconds_of(lambda: engine.search(requests[0], Scope(), refresh=False))
    for request in requests:
        engine.search(request, Scope(), refresh=False)
    times_ms = [
        1000 * seconds_of(lambda request=request: engine.search(request, Scope(), refresh=False))
        for request in requests
    ]
    checks_ms = [1000 * seconds_of(lambda: engine.refresh(place / "tree")) for _ in range(_CHECKS)]
    with engine.session(Scope(), AS_INDEXED).indexes() as (index,):
        queries = [request.query for request in requests]
        loss = approximation_loss(index, engine.encoder(), queries)
    return {
        "first_s": round(first_s, 3),
        **quantiles(times_ms),
        "check_ms": quantiles(checks_ms)["p50_ms"],
        **loss,
    }


def approximation_loss(index: IndexReader, encoder: OnnxEncoder, queries: Iterable[str]) -> dict[str, Any]:
    """Compare the nearest documents of the graph with the true ones, without filters.

    Returns:
        `in_use`, whether there is a graph. If so, also `recall_at_10` and `recall_at_100`: the mean share of the true
        nearest documents, or of equally near ones, that the graph finds.
    """
    snapshot = Snapshot([index])
    if not any(segment.vectors.has_graph for segment in snapshot.segments):
        return {"in_use": False}
    everything = np.arange(snapshot.size)
    shares: dict[int, list[float]] = {10: [], 100: []}
    for embedding in encoder.encode_queries(list(dict.fromkeys(queries))):
        exact = snapshot.similarities(embedding, everything)
        for depth, share in shares.items():
            nearest = best_positions(exact, depth)
            near = snapshot.nearest(embedding, depth, None, RankConfig().hnsw_ef_search)
            found = near[best_positions(exact[near], depth)]
            as_near = exact[found] >= exact[nearest].min() - _LAST_BITS
            share.append(float(as_near.sum() / len(nearest)))
    return {
        "in_use": True,
        **{f"recall_at_{depth}": float(np.mean(share)) for depth, share in shares.items()},
    }


STEPS = {
    "tree": _write_tree,
    "exact": _build_exact,
    "exact_query": _query,
    "hnsw": _add_graph,
    "hnsw_query": _query,
}
"""The steps in their order. Queries are exact until there is a graph."""


def build_table(rows: list[dict[str, Any]]) -> str:
    """Lay out time, memory and disk of building."""
    lines = [
        line(["documents", "source MB", "index s", "CPU s", "peak MB", "index MB", "graph s", "its CPU s",
              "its peak MB", "its MB"]),
        "|---" * 11 + "|",
    ]  # fmt: skip
    for row in rows:
        exact, graph = row["exact"], row.get("hnsw", {})
        figures = [exact["documents"], row["tree"]["source_mb"]]
        figures += [exact[key] for key in ("wall_s", "cpu_s", "peak_mb", "index_mb")]
        figures += [graph.get(key) for key in ("wall_s", "cpu_s", "peak_mb", "graph_mb")]
        lines.append(line([shown(figure) for figure in figures]))
    return "\n".join(lines)


def query_table(rows: list[dict[str, Any]]) -> str:
    """Lay out time and memory of queries, exact and with the graph, and the time of the check for changed files."""
    lines = [
        line(["documents", "exact p50 ms", "p95", "first s", "peak MB", "HNSW p50 ms", "p95", "first s", "peak MB",
              "recall at 10", "at 100", "files", "check ms"]),
        "|---" * 13 + "|",
    ]  # fmt: skip
    for row in rows:
        cells = [f"{row['exact']['documents']:,}"]
        for found in (row["exact_query"], row.get("hnsw_query", {})):
            cells += [shown(found.get(key)) for key in ("p50_ms", "p95_ms", "first_s", "peak_mb")]
        cells += [shown(row.get("hnsw_query", {}).get(f"recall_at_{depth}"), ".4f") for depth in (10, 100)]
        cells += [f"{row['tree']['files']:,}", shown(row["exact_query"].get("check_ms"))]
        lines.append(line(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
