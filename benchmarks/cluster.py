"""A simulated cluster that answers with measured latencies -> `results/cluster.json`, a table of docs/dev/scale.md.

`python -m benchmarks.cluster` reads the latency of one shard from `results/growth.json`: the median and the 95th
percentile of its largest index with an HNSW graph. Service times are drawn from the log-normal distribution with these
two quantiles. A query asks every shard. Each node serves its shards with its cores, first come, first served, and the
answer is complete when the slowest shard has answered and the network has carried it. Arrivals are random (Poisson).
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.publish import DEV_DOCS, RESULTS, fill, line, record

PAGE = DEV_DOCS / "scale.md"
SIZES = (6_400_000, 100_000_000, 1_000_000_000)
LOADS = (0.1, 0.5, 0.8)
"""Share of what the cores can do at most."""
_CORES = 16
_SHARDS_PER_NODE = 16
_NETWORK_MS = (0.5, 2.0)
"""Assumed median and 95th percentile of the way to a node and back."""
_PER_WORKER = 8_000_000
_WORKER_CORES = 4
_DIM, _LINKS = 384, 16
_HNSW_BYTES = 1.2 * (4 * _DIM + 2 * 4 * _LINKS)
"""Memory of a vector and its links, with a fifth for everything else."""
_NODE_GB = 100
"""What a node of 128 GB has for vectors."""
_QUERIES = 400
_SEED = 1
_Z95 = 1.6449


@dataclass(frozen=True)
class LogNormal:
    """A distribution of times, by its median and 95th percentile."""

    p50: float
    p95: float

    def draw(self, chance: random.Random) -> float:
        """Return a random time."""
        return chance.lognormvariate(math.log(self.p50), math.log(self.p95 / self.p50) / _Z95)

    @property
    def mean(self) -> float:
        """Return the expected time."""
        sigma = math.log(self.p95 / self.p50) / _Z95
        return self.p50 * math.exp(sigma * sigma / 2)


def main() -> None:
    """Simulate and record."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    measured = json.loads((RESULTS / "growth.json").read_text("utf-8"))["growth"][-1]
    shard = LogNormal(measured["hnsw_query"]["p50_ms"], measured["hnsw_query"]["p95_ms"])
    documents = measured["exact"]["documents"]
    rows = list(simulations(shard, documents))
    record(
        "cluster", {"documents_per_shard": documents, "shard_ms": vars(shard), "simulated": rows}, flat=True
    )
    fill(PAGE, "cluster", table(rows))
    bytes_per_document = json.loads((RESULTS / "milvus.json").read_text("utf-8"))["bytes_per_document"]
    fill(PAGE, "plan", plan_table(measured["exact"], bytes_per_document))


def plan_table(indexed: dict[str, Any], bytes_per_document: float) -> str:
    """Lay out the plan for the page.

    Args:
        indexed: documents of an index and the CPU seconds to make it.
        bytes_per_document: on the server.
    """
    lines = [
        line(["functions", "workers", "hours", "nodes of 128 GB", "memory for HNSW", "disk"]),
        line(["--:"] * 6),
    ]
    cpu_s = indexed["cpu_s"] / indexed["documents"]
    for size in SIZES:
        workers = max(1, round(size / _PER_WORKER))
        hours = size * cpu_s / (workers * _WORKER_CORES) / 3600
        memory = size * _HNSW_BYTES / 1e9
        disk = 2 * size * bytes_per_document / 1e9
        nodes = math.ceil(memory / _NODE_GB)
        sizes = [f"{size:,}", f"{workers:,}", f"{hours:.1f}", f"{nodes:,}"]
        lines.append(line([*sizes, f"{memory:,.0f} GB", f"{disk:,.0f} GB"]))
    return "\n".join(lines)


def simulations(shard: LogNormal, documents_per_shard: int) -> Iterator[dict[str, Any]]:
    """Yield p50, p95 and p99 for each size and load."""
    for size in SIZES:
        shards = math.ceil(size / documents_per_shard)
        nodes = math.ceil(shards / _SHARDS_PER_NODE)
        most = 1000 * _CORES * nodes / (shards * shard.mean)
        for load in LOADS:
            times = simulate(shards, nodes, most * load, shard)
            p50, p95, p99 = np.percentile(times, [50, 95, 99]).round(1).tolist()
            yield {
                "functions": size,
                "shards": shards,
                "nodes": nodes,
                "load": load,
                "queries_per_s": round(most * load, 1),
                "p50_ms": p50,
                "p95_ms": p95,
                "p99_ms": p99,
            }


def simulate(shards: int, nodes: int, queries_per_s: float, shard: LogNormal) -> list[float]:
    """Return how long each query takes: milliseconds.

    Args:
        shards: in all; they are spread evenly over the nodes.
        nodes: with `_CORES` cores each.
        queries_per_s: how many arrive.
        shard: time that one shard needs on one core.
    """
    chance = random.Random(_SEED)
    network = LogNormal(*_NETWORK_MS)
    free = [[0.0] * _CORES for _ in range(nodes)]
    now = 0.0
    times = []
    for _ in range(_QUERIES):
        now += chance.expovariate(queries_per_s / 1000)
        slowest = now
        for number in range(shards):
            cores = free[number % nodes]
            done = max(now, cores[0]) + shard.draw(chance)
            heapq.heapreplace(cores, done)
            slowest = max(slowest, done)
        times.append(slowest - now + network.draw(chance))
    return times[_QUERIES // 10 :]


def table(rows: list[dict[str, Any]]) -> str:
    """Lay out the highest load for the page."""
    head = [line(["functions", "nodes", "queries/s", "p50 ms", "p95 ms"]), line(["--:"] * 5)]
    body = [
        line(
            [
                f"{row['functions']:,}",
                f"{row['nodes']:,}",
                f"{row['queries_per_s']:.0f}",
                *(f"{row[name]:.0f}" for name in ("p50_ms", "p95_ms")),
            ]
        )
        for row in rows
        if row["load"] == LOADS[-1]
    ]
    return "\n".join([*head, *body])


if __name__ == "__main__":
    main()
