"""A folder of sources -> an index in a home of its own -> what each system finds for each query.

This is the product's own path: plan, build, open, rank. Nothing of the index outlives the run, so each run times a
cold build; vectors are embedded anew as well.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.encoding.bundle import SHIPPED
from codesearch.encoding.encoder import Encoder
from codesearch.encoding.onnx import OnnxEncoder
from codesearch.evaluation.environment import describe_encoder
from codesearch.evaluation.metrics import DEPTH
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Qrels, QueryId, Run
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.systems import System, systems_without
from codesearch.index.build import Progress, build_generation
from codesearch.index.catalogue import index_folder
from codesearch.index.plan import plan_update
from codesearch.index.reader import IndexReader
from codesearch.search.request import Filters
from codesearch.search.searcher import Searcher
from codesearch.segments.store import DocumentRow, FileRecord

FUNCTIONS = ("function", "method")
"""Kinds that compete: challenges of code search ask for functions."""
DocumentKey = Callable[[FileRecord, DocumentRow], str]


@dataclass(frozen=True, slots=True)
class Pool:
    """An open index, and how its documents are called by the judgements.

    Attributes:
        keys: doc_id of the index -> doc_id of judgements and runs.
        names: the latter -> qualified name, of documents that compete.
    """

    index: IndexReader
    encoder: Encoder
    keys: list[str]
    names: dict[str, str]


@contextmanager
def open_pool(root: Path, options: BenchOptions, clock: StageClock, key: DocumentKey) -> Iterator[Pool]:
    """Index a folder, and open the index for as long as the context lasts.

    Args:
        root: the folder.
        options: model, device and what shapes the index.
        clock: gets the stages "load" and "index".
        key: how judgements call a document.
    """
    options.cache.mkdir(parents=True, exist_ok=True)
    with clock.stage("load"):
        encoder = OnnxEncoder.load(options.model or SHIPPED, options.device)
    with tempfile.TemporaryDirectory(prefix="home-", dir=options.cache) as scratch:
        home = Path(scratch)
        folder = index_folder(home, root)
        folder.mkdir(parents=True)
        with clock.stage("index"):
            plan = plan_update(root, folder, options.index, encoder.model_id, rebuild=True)
            build_generation(plan, home, encoder, lambda done: _tell(options, done))
        index = IndexReader.open(folder)
        try:
            yield Pool(index, encoder, *_identify(index, key))
        finally:
            index.close()


def _tell(options: BenchOptions, progress: Progress) -> None:
    options.on_progress("index", progress.done_bytes, progress.total_bytes)


def _identify(index: IndexReader, key: DocumentKey) -> tuple[list[str], dict[str, str]]:
    keys: list[str] = []
    names = {}
    for file in index.files:
        for row in index.store.document_rows(file.first_doc, file.doc_count):
            keys.append(key(file, row))
            if row.kind in FUNCTIONS:
                names[keys[-1]] = row.qualified_name
    return keys, names


def rank_all(
    pool: Pool, queries: Mapping[QueryId, str], system: System, options: BenchOptions
) -> tuple[Run, list[float]]:
    """Ask a system every query, with the query's group as the language filter.

    Args:
        pool: what to search.
        queries: id -> the query as it is asked.
        system: how to rank.
        options: whom to tell how far it is.

    Returns:
        The run, at most `DEPTH` documents a query; and how many milliseconds each query took.
    """
    searcher = Searcher([pool.index], pool.encoder, system.config)
    run: Run = {}
    times_ms = []
    for number, (query_id, text) in enumerate(queries.items(), 1):
        started = time.perf_counter()
        # Two definitions of the same lines have one address, so more are fetched than kept.
        ranked = searcher.rank(text, 2 * DEPTH, Filters((query_id[0],), FUNCTIONS), system.mode)
        times_ms.append(1000 * (time.perf_counter() - started))
        found = dict.fromkeys(pool.keys[place.doc_id] for place in ranked)
        run[query_id] = list(found)[:DEPTH]
        options.on_progress(f"query {system.name}", number, len(queries))
    return run, times_ms


def run_systems(
    pool: Pool, queries: Mapping[QueryId, str], options: BenchOptions, clock: StageClock
) -> tuple[dict[str, Run], dict[str, dict[str, float]]]:
    """Ask every system every query; return the runs and the milliseconds a query, p50 and p95, by system."""
    runs, times = {}, {}
    for system in systems_without(options.without):
        with clock.stage(f"query {system.name}"):
            runs[system.name], times_ms = rank_all(pool, queries, system, options)
        p50, p95 = np.percentile(times_ms, [50, 95]).round(2).tolist()
        times[system.name] = {"p50": p50, "p95": p95}
    return runs, times


def coverage(pool: Pool, qrels: Qrels) -> dict[str, dict[str, int]]:
    """Count by group the judged documents, and those that exist as documents of the index."""
    counts: dict[str, dict[str, int]] = {}
    for language in sorted({group for group, _ in qrels}):
        judged = {
            document for (group, _), grades in qrels.items() if group == language for document in grades
        }
        counts[language] = {"judged": len(judged), "extracted": len(judged & pool.names.keys())}
    return counts


def describe_pool(pool: Pool) -> dict[str, Any]:
    """Say what was searched, by what."""
    return {
        "model": describe_encoder(pool.encoder),
        "vectors": "hnsw" if pool.index.vectors.has_graph else "exact",
        "functions_by_language": functions_by_language(pool),
    }


def functions_by_language(pool: Pool) -> dict[str, int]:
    """Count the documents that compete in each language."""
    counts: dict[str, int] = {}
    for file in pool.index.files:
        documents = slice(file.first_doc, file.first_doc + file.doc_count)
        competing = sum(key in pool.names for key in pool.keys[documents])
        counts[file.language] = counts.get(file.language, 0) + competing
    return {language: count for language, count in sorted(counts.items()) if count}
