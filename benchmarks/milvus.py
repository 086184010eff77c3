"""The 99 queries on a Milvus server and in the embedded index -> `results/milvus.json`, figures of docs/dev/scale.md.

`python -m benchmarks.milvus DATA` starts a Milvus Lite server, indexes the sources of the 99 queries, writes them to
its collections and asks both all judged queries. Milvus Lite takes seconds for each, so it runs for most of an hour.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.process import folder_mb, quantiles
from benchmarks.publish import DEV_DOCS, RESULTS, fill, line, record
from codesearch.engine.engine import Engine
from codesearch.engine.remote import MilvusBackend
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED
from codesearch.evaluation.data import Qrels, Run, document_url, judged, read_annotations, unpack
from codesearch.evaluation.judge import functions_of_language
from codesearch.evaluation.metrics import DEPTH, score_graded
from codesearch.evaluation.result import SystemResult, summarise
from codesearch.evaluation.suites import ANNOTATIONS, PACK
from codesearch.milvus.store import Connection
from codesearch.search.searcher import Searcher

PAGE = DEV_DOCS / "scale.md"
_SCRATCH = Path("build/milvus-bench")
_PORT = 19_540
_START_S = 10
_SIZES = (6_400_000, 100_000_000, 1_000_000_000)
_PER_WORKER, _WORKER_CORES = 8_000_000, 4
_DIM, _LINKS = 384, 16
_HNSW_BYTES = 1.2 * (4 * _DIM + 2 * 4 * _LINKS)
"""Memory of a vector and its links, with a fifth for everything else."""
_NODE_GB = 100
"""What a node of 128 GB has for vectors."""


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the 99 queries' data")
    data = parser.parse_args().data
    root = Path("build/speed/csn99")
    shutil.rmtree(root, ignore_errors=True)
    unpack(data / PACK, root, lambda *_: None)
    qrels = judged(read_annotations(data / ANNOTATIONS))
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    with _server() as uri:
        engine = Engine(_SCRATCH / "home")
        backend = MilvusBackend(Connection(uri, prefix="bench", timeout_s=600))
        engine.index(root)
        started = time.perf_counter()
        (report,) = backend.push(engine, [root])
        pushed_s = time.perf_counter() - started
        backend.push(engine, [root])
        rows: dict[str, Any] = {
            "documents": report.documents,
            "documents_per_s": round(report.written / pushed_s),
            "bytes_per_document": round(1e6 * folder_mb(_SCRATCH / "server") / report.documents),
        }
        for name, asked in (("embedded", engine), ("milvus", Engine(backend=backend))):
            with asked.session(Scope((root,)), AS_INDEXED).open() as searcher:
                rows[name] = _asked(searcher, qrels)
    record("milvus", rows, flat=True)
    fill(PAGE, "milvus", table(rows))
    grown = json.loads((RESULTS / "growth.json").read_text("utf-8"))["growth"][-1]["exact"]
    fill(PAGE, "plan", plan_table(grown, rows["bytes_per_document"]))


@contextmanager
def _server() -> Iterator[str]:
    """Run a server with an empty data folder; yield its address."""
    options = ["--data-dir", str(_SCRATCH / "server"), "--host", "127.0.0.1", "--port", str(_PORT)]
    process = subprocess.Popen([sys.executable, "-m", "milvus_lite", "server", *options])
    try:
        time.sleep(_START_S)
        yield f"http://127.0.0.1:{_PORT}"
    finally:
        process.terminate()
        process.wait()


def table(rows: dict[str, Any]) -> str:
    """Lay the rows out for the page."""
    head = [line(["", "NDCG all", "within", "p50 ms", "p95 ms"]), line(["---", *["--:"] * 4])]
    body = [
        line(
            [
                name,
                f"{row['ndcg_all']:.3f}",
                f"{row['ndcg_within']:.3f}",
                f"{row['p50_ms']:.0f}",
                f"{row['p95_ms']:.0f}",
            ]
        )
        for name, row in (("embedded index", rows["embedded"]), ("Milvus Lite", rows["milvus"]))
    ]
    note = (
        f"{rows['documents']:,} documents; {rows['documents_per_s']:,} written per second by one worker; "
        f"{rows['bytes_per_document']:,} bytes on the server for each."
    )
    return "\n".join([*head, *body, "", note])


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
    for size in _SIZES:
        workers = max(1, round(size / _PER_WORKER))
        hours = size * cpu_s / (workers * _WORKER_CORES) / 3600
        memory = size * _HNSW_BYTES / 1e9
        disk = 2 * size * bytes_per_document / 1e9
        nodes = math.ceil(memory / _NODE_GB)
        sizes = [f"{size:,}", f"{workers:,}", f"{hours:.1f}", f"{nodes:,}"]
        lines.append(line([*sizes, f"{memory:,.0f} GB", f"{disk:,.0f} GB"]))
    return "\n".join(lines)


def _asked(searcher: Searcher, qrels: Qrels) -> dict[str, float]:
    """Ask each judged query; return NDCG and milliseconds."""
    run: Run = {}
    times = []
    for query in qrels:
        filters = functions_of_language(query)
        started = time.perf_counter()
        ranking = searcher.ranking(searcher.analyse(query[1]), filters)
        best = ranking.best(2 * DEPTH)
        times.append(1000 * (time.perf_counter() - started))
        refs = ranking.documents.refs([candidate.doc_id for candidate in best])
        found = [document_url(ref.path, ref.row.start_line, ref.row.end_line) for ref in refs]
        run[query] = list(dict.fromkeys(found))[:DEPTH]
    summary = summarise(score_graded(run, qrels))
    return {"queries": len(run), **quantiles(times), **_means(summary)}


def _means(summary: SystemResult) -> dict[str, float]:
    return {name: round(groups["average"], 4) for name, groups in summary.metrics.items()}


if __name__ == "__main__":
    main()
