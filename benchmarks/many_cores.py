"""What one machine with many cores could index, from two: `results/many_cores.json` (docs/speed.md).

Parsing is one figure, seconds of one core a document. What gathers is the other: a build whose files were parsed
before, and cross over as they would from a worker, by whoever else embeds. The slower of both is what any number of
cores can do.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks.record import record
from benchmarks.speed import standard_library
from codesearch.config import IndexConfig
from codesearch.encoding.bundle import SHIPPED
from codesearch.encoding.encoder import OnnxEncoder
from codesearch.index import build
from codesearch.index.parse import ParseJob, chunks_of
from codesearch.index.plan import Plan, plan_update
from codesearch.parsing.walker import SourceFile

Parsed = list[tuple[list[SourceFile], bytes]]
"""Chunks of files, each with its results as a worker would send them."""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", type=Path, help="default: CPython's standard library")
    parser.add_argument("--processes", nargs="*", type=int, default=[0, 1], help="that embed, in turn")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    tree = (options.tree or standard_library()).resolve()
    encoder = OnnxEncoder.load(SHIPPED)
    with tempfile.TemporaryDirectory() as folder:
        parsed, parse_s, documents = parse(plan(tree, Path(folder), encoder), encoder)
        builds: dict[int, list[dict[str, float]]] = {count: [] for count in options.processes}
        for number in range(options.rounds):
            for count, rounds in builds.items():
                home = Path(folder) / f"{count}-{number}"
                rounds.append(gather(tree, home, encoder, parsed, count))
    record(
        "many_cores",
        {
            "documents": documents,
            "parse_cpu_s": round(parse_s, 2),
            "processes_that_embed": {
                str(count): {key: round(median(found[key] for found in rounds), 2) for key in rounds[0]}
                for count, rounds in builds.items()
            },
        },
        flat=True,
    )


def plan(tree: Path, home: Path, encoder: OnnxEncoder) -> Plan:
    """Plan to index a tree from nothing in a home of its own."""
    (home / "index").mkdir(parents=True)
    return plan_update(tree, home / "index", IndexConfig(), encoder.model_id)


def parse(planned: Plan, encoder: OnnxEncoder) -> tuple[Parsed, float, int]:
    """Parse all files in this process; return the results, the seconds of CPU and the documents."""
    parser = ParseJob.of(planned, encoder).open()
    documents = 0
    started = time.process_time()
    parsed: Parsed = []
    for chunk in chunks_of(planned.to_parse):
        results = [parser.parse(file) for file in chunk]
        documents += sum(len(result.rows) for result in results if result)
        parsed.append((chunk, pickle.dumps(results, pickle.HIGHEST_PROTOCOL)))
    return parsed, time.process_time() - started, documents


def gather(tree: Path, home: Path, encoder: OnnxEncoder, parsed: Parsed, processes: int) -> dict[str, float]:
    """Build an index of what was parsed; return the seconds it took, and those of CPU that this process did."""

    def replay(*_: object) -> Iterator[tuple[object, object]]:
        for files, results in parsed:
            yield from zip(files, pickle.loads(results), strict=True)

    planned = plan(tree, home, encoder)
    with (
        patch.object(build, "parse_files", replay),
        patch.object(build, "embedding_processes", lambda: processes),
    ):
        started, cpu = time.perf_counter(), time.process_time()
        build.build_generation(planned, home, encoder)
        return {"wall_s": time.perf_counter() - started, "own_cpu_s": time.process_time() - cpu}


if __name__ == "__main__":
    main()
