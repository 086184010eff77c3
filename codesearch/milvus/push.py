"""Local indexes -> the collections in Milvus.

A worker indexes its roots as usual and then makes the collections equal to its indexes: it writes the documents that
are new or changed and deletes those that are gone. The row of a root is written last. So a worker that was stopped or
killed at any point only has to run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from codesearch.errors import BackendError
from codesearch.milvus.rows import document_frequencies, rows_of
from codesearch.milvus.store import ROOT, SHARD, UNUSED, MilvusStore, about_row, quoted
from codesearch.store.reader import IndexReader
from codesearch.text.terms import FIELDS


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push of one root did.

    Attributes:
        written: documents that were new or changed.
        deleted: documents that are gone.
        documents: of the root, now.
    """

    root: str
    written: int
    deleted: int
    documents: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RootStatus:
    """A root in the collections.

    Attributes:
        shard: "I/N", the worker that indexes it.
        created: when it was last indexed, in ISO 8601.
    """

    root: str
    shard: str
    documents: int
    files: int
    languages: dict[str, int]
    created: str


def push(store: MilvusStore, indexes: Sequence[IndexReader], shard: str) -> list[PushReport]:
    """Make the collections hold what the indexes of a shard hold, and nothing else of that shard."""
    known = {row["id"]: row for row in store.read(store.roots, 'shard != ""', ("id", "shard", "about"))}
    total = shard.partition("/")[2]
    for row in known.values():
        other = str(row["shard"]).partition("/")[2]
        if other != total:
            raise BackendError(
                f"the collections were filled with --shard I/{other}",
                f"give --shard I/{other}, or another --prefix",
            )
    for index in indexes:
        row = known.get(ROOT + index.manifest.root, {"shard": shard})
        if row["shard"] != shard:
            raise BackendError(f"{index.manifest.root} belongs to shard {row['shard']}", "index it there")
    reports = [_push_root(store, index, shard, known.get(ROOT + index.manifest.root)) for index in indexes]
    kept = {ROOT + index.manifest.root for index in indexes}
    for key, row in known.items():
        if key.startswith(ROOT) and row["shard"] == shard and key not in kept:
            reports.append(_drop_root(store, key.removeprefix(ROOT)))
    _push_statistics(store, indexes, shard)
    return reports


def root_statuses(store: MilvusStore) -> list[RootStatus]:
    """Return all roots in the collections, by path."""
    found = []
    for row in store.read(store.roots, f'id like "{ROOT}%"', ("id", "shard", "about")):
        about = json.loads(row["about"])
        del about["state"]
        found.append(RootStatus(row["id"].removeprefix(ROOT), row["shard"], **about))
    return sorted(found, key=lambda status: status.root)


def _push_root(
    store: MilvusStore, index: IndexReader, shard: str, known: dict[str, Any] | None
) -> PushReport:
    started = time.monotonic()
    manifest = index.manifest
    # A digest that changes with every commit that changes documents.
    segments = [[entry.files, entry.dead_files] for entry in manifest.segments]
    state = hashlib.sha256(json.dumps(segments, sort_keys=True).encode()).hexdigest()
    written = deleted = 0
    if known is None or json.loads(known["about"])["state"] != state:
        condition = f"root == {quoted(manifest.root)}"
        there = {row["id"]: row["digest"] for row in store.read(store.documents, condition, ("id", "digest"))}
        here: set[str] = set()

        def changed() -> Iterator[dict[str, Any]]:
            for row in rows_of(index):
                here.add(row["id"])
                if there.get(row["id"]) != row["digest"]:
                    yield row

        written = store.write(store.documents, changed())
        deleted = store.delete(store.documents, sorted(there.keys() - here))
        about = {
            "state": state,
            "documents": manifest.documents,
            "files": manifest.source_files,
            "languages": manifest.languages,
            "created": manifest.created,
        }
        store.write(store.roots, [about_row(ROOT + manifest.root, shard, about)])
    return PushReport(manifest.root, written, deleted, manifest.documents, time.monotonic() - started)


def _drop_root(store: MilvusStore, root: str) -> PushReport:
    started = time.monotonic()
    gone = [row["id"] for row in store.read(store.documents, f"root == {quoted(root)}", ("id",))]
    deleted = store.delete(store.documents, gone)
    store.delete(store.roots, [ROOT + root])
    return PushReport(root, 0, deleted, 0, time.monotonic() - started)


def _push_statistics(store: MilvusStore, indexes: Sequence[IndexReader], shard: str) -> None:
    """Write how many documents of a shard have each term, and the lengths of its fields."""
    counts: Counter[str] = Counter()
    for index in indexes:
        counts += document_frequencies(index)
    condition = f"shard == {quoted(shard)}"
    there = {row["term"]: row for row in store.read(store.terms, condition, ("id", "term", "documents"))}
    store.write(
        store.terms,
        (
            {"id": f"{shard} {term}", "term": term, "shard": shard, "documents": count, "unused": UNUSED}
            for term, count in counts.items()
            if term not in there or there[term]["documents"] != count
        ),
    )
    store.delete(store.terms, [row["id"] for term, row in there.items() if term not in counts])
    entries = [entry for index in indexes for entry in index.manifest.segments]
    empty = [[0] * len(FIELDS)]
    about = {
        "documents": sum(entry.live_documents for entry in entries),
        "field_sums": np.sum([entry.field_sums for entry in entries] or empty, axis=0).tolist(),
        "field_counts": np.sum([entry.field_counts for entry in entries] or empty, axis=0).tolist(),
    }
    store.write(store.roots, [about_row(SHARD + shard, shard, about)])
