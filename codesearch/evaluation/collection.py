"""A folder of sources -> an index in a temporary home -> the results of each system for each query.

The engine does all of it, as for any user. The index is deleted after the run, so each run times a cold build and
embeds all vectors again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from codesearch.encoding.encoder import Encoder
from codesearch.engine.engine import Engine
from codesearch.evaluation.environment import describe_encoder
from codesearch.evaluation.metrics import DEPTH
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.qrels import Qrels, QueryId, Run
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.systems import System, systems_without
from codesearch.index.reader import IndexReader
from codesearch.search.request import Filters
from codesearch.search.searcher import Searcher
from codesearch.segments.store import DocumentRow, FileRecord

FUNCTIONS = ("function", "method")
"""Kinds that compete by default, because benchmarks of code search ask for functions."""

DocumentKey = Callable[[FileRecord, DocumentRow], str]
QueryFilters = Callable[[QueryId], Filters]


def functions_of_language(query: QueryId) -> Filters:
    """Return a filter by which only functions in a query's language compete; its group is the language."""
    return Filters((query[0],), FUNCTIONS)


@dataclass(frozen=True, slots=True)
class Collection:
    """The documents of a test collection: an open index, and the names of its documents in judgements.

    Attributes:
        index: the open index.
        encoder: its model.
        keys: doc_id of the index -> doc_id of judgements and runs.
        names: doc_id of judgements -> qualified name, for the documents that compete.
    """

    index: IndexReader
    encoder: Encoder
    keys: list[str]
    names: dict[str, str]


@contextmanager
def open_collection(
    root: Path, options: BenchOptions, clock: StageClock, key: DocumentKey, kinds: tuple[str, ...] = FUNCTIONS
) -> Iterator[Collection]:
    """Index a folder, and keep the index open while the context lasts.

    Args:
        root: the folder.
        options: model, device and settings of the index.
        clock: measures the stages "load" and "index".
        key: gives the name of a document in judgements.
        kinds: kinds of documents that compete.
    """
    options.cache.mkdir(parents=True, exist_ok=True)
    # Windows does not delete files that are still mapped.
    with tempfile.TemporaryDirectory(prefix="home-", dir=options.cache, ignore_cleanup_errors=True) as home:
        engine = Engine(home, model=options.model, device=options.device, vectors=options.vectors)
        with clock.stage("load"):
            encoder = engine.encoder()
        with clock.stage("index"):
            engine.index(
                root,
                options.walk,
                on_progress=lambda done: options.on_progress("index", done.done_bytes, done.total_bytes),
            )
        try:
            with engine.open() as searcher:
                index = searcher.indexes[0]
                yield Collection(index, encoder, *_identify(index, key, kinds))
        finally:
            engine.close()


def _identify(
    index: IndexReader, key: DocumentKey, kinds: tuple[str, ...]
) -> tuple[list[str], dict[str, str]]:
    keys: list[str] = []
    names = {}
    for segment in index.segments:
        for file in segment.files:
            for row in segment.store.document_rows(file.first_doc, file.doc_count):
                keys.append(key(file, row))
                if row.kind in kinds:
                    names[keys[-1]] = row.qualified_name
    return keys, names


def rank_all(
    collection: Collection,
    queries: Mapping[QueryId, str],
    system: System,
    options: BenchOptions,
    filters: QueryFilters = functions_of_language,
) -> tuple[Run, list[float]]:
    """Run every query with one system.

    Args:
        collection: what to search.
        queries: id -> the query as it is asked.
        system: how to rank.
        options: the function that receives progress.
        filters: query_id -> which documents compete.

    Returns:
        The run, with at most `DEPTH` documents for each query; and the milliseconds of each query.
    """
    searcher = Searcher([collection.index], collection.encoder, system.config)
    run: Run = {}
    times_ms = []
    for number, (query_id, text) in enumerate(queries.items(), 1):
        started = time.perf_counter()
        # Two definitions on the same lines have one address, so fetch more documents than are kept.
        ranked = searcher.rank(text, 2 * DEPTH, filters(query_id), system.mode)
        times_ms.append(1000 * (time.perf_counter() - started))
        found = dict.fromkeys(collection.keys[place.doc_id] for place in ranked)
        run[query_id] = list(found)[:DEPTH]
        options.on_progress(f"query {system.name}", number, len(queries))
    return run, times_ms


def run_systems(
    collection: Collection,
    queries: Mapping[QueryId, str],
    options: BenchOptions,
    clock: StageClock,
    filters: QueryFilters = functions_of_language,
) -> tuple[dict[str, Run], dict[str, dict[str, float]]]:
    """Run every query with every system; return the runs, and p50 and p95 of milliseconds per query, by system."""
    runs, times = {}, {}
    for system in systems_without(options.without):
        with clock.stage(f"query {system.name}"):
            runs[system.name], times_ms = rank_all(collection, queries, system, options, filters)
        p50, p95 = np.percentile(times_ms, [50, 95]).round(2).tolist()
        times[system.name] = {"p50": p50, "p95": p95}
    return runs, times


def coverage(collection: Collection, qrels: Qrels) -> dict[str, dict[str, int]]:
    """Count, by group, the judged documents and those that are documents of the index."""
    counts: dict[str, dict[str, int]] = {}
    for language in sorted({group for group, _ in qrels}):
        judged = {
            document for (group, _), grades in qrels.items() if group == language for document in grades
        }
        counts[language] = {"judged": len(judged), "extracted": len(judged & collection.names.keys())}
    return counts


def describe_collection(collection: Collection) -> dict[str, Any]:
    """Describe the index and the model."""
    return {
        "model": describe_encoder(collection.encoder),
        "vectors": "hnsw"
        if any(segment.vectors.has_graph for segment in collection.index.segments)
        else "exact",
        "functions_by_language": _functions_by_language(collection),
    }


def _functions_by_language(collection: Collection) -> dict[str, int]:
    counts: dict[str, int] = {}
    keys = iter(collection.keys)
    for segment in collection.index.segments:
        for file in segment.files:
            functions = sum(key in collection.names for key in islice(keys, file.doc_count))
            counts[file.language] = counts.get(file.language, 0) + functions
    return {language: count for language, count in sorted(counts.items()) if count}
