"""The 99 queries on a Milvus server beside the embedded index -> `results/milvus.json`, figures of docs/scale-out.md.

`python -m benchmarks.milvus DATA URI` indexes the sources of the 99 queries, writes them to collections of the server
(their names begin with `bench`) and asks every query of both. A fresh Milvus Lite server is enough:

    python -m milvus_lite server --data-dir build/milvus --port 19530
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from codesearch.backends.milvus.searcher import Collection, MilvusSearcher
from codesearch.backends.milvus.store import Connection
from codesearch.engine.engine import Engine
from codesearch.engine.remote import RemoteEngine
from codesearch.evaluation.collection import functions_of_language
from codesearch.evaluation.grades import score_run
from codesearch.evaluation.metrics import DEPTH
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.pack import unpacked
from codesearch.evaluation.qrels import Qrels, Run, document_url, judged
from codesearch.evaluation.result import SystemResult, summarise
from codesearch.evaluation.suites.csn99 import PACK, judgements
from codesearch.search.searcher import Searcher

_SCRATCH = Path("build/milvus-bench")


def main() -> None:
    """Measure and record."""
    data, uri = Path(sys.argv[1]), sys.argv[2]
    root = unpacked(data / PACK, Path("build/speed/csn99"), lambda *_: None)
    qrels = judged(judgements(BenchOptions(Path("build"), data)))
    remote = RemoteEngine(Connection(uri, prefix="bench", timeout_s=600), _SCRATCH / "home")
    remote.index(root)
    started = time.perf_counter()
    (report,) = remote.push([root])
    pushed_s = time.perf_counter() - started
    rows: dict[str, Any] = {
        "documents": report.documents,
        "written": report.written,
        "documents_per_s": round(report.written / pushed_s),
    }
    with Engine(_SCRATCH / "home").open() as local:
        rows["embedded"] = _asked(local, qrels)
    collection = Collection(remote._store)
    rows["milvus"] = _asked(MilvusSearcher(collection, remote.encoder()), qrels)
    record("milvus", rows, flat=True)


def _asked(searcher: Searcher, qrels: Qrels) -> dict[str, float]:
    """Ask each judged query; return NDCG and milliseconds."""
    run: Run = {}
    times = []
    for query in qrels:
        filters = functions_of_language(query)
        started = time.perf_counter()
        ranking = searcher.ranking(searcher.analyse(query[1]), filters)
        ranked = ranking.ranked(2 * DEPTH)
        times.append(1000 * (time.perf_counter() - started))
        stored = ranking.snapshot.stored([place.doc_id for place in ranked])
        found = [document_url(file.path, row.start_line, row.end_line) for _, file, row in stored]
        run[query] = list(dict.fromkeys(found))[:DEPTH]
    p50, p95 = np.percentile(times, [50, 95]).round(1).tolist()
    summary = summarise(score_run(run, qrels))
    return {"queries": len(run), "p50_ms": p50, "p95_ms": p95, **_means(summary)}


def _means(summary: SystemResult) -> dict[str, float]:
    return {name: round(groups["average"], 4) for name, groups in summary.metrics.items()}


if __name__ == "__main__":
    main()
