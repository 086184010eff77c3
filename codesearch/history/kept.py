"""What is shown of commits: git and the parsers read it once, and the database of the table of commits keeps it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache

from codesearch.build import workers
from codesearch.build.plan import digest_of
from codesearch.config import IndexConfig
from codesearch.errors import IndexStoreError
from codesearch.history.commits import ChangedDefinition, CommitHit, read_hits
from codesearch.history.table import History, opened
from codesearch.store.manifest import FORMAT_VERSION

_LOST = IndexStoreError, sqlite3.Error, ValueError, TypeError, KeyError
"""What is kept only saves time, so an answer does without it."""


def hits_of(history: History, scores: Mapping[str, float | None]) -> tuple[CommitHit, ...]:
    """Return what is shown of commits, given as ids with scores, in the same order."""
    hits = _kept(history, scores)
    if missing := [commit for commit in scores if commit not in hits]:
        workers.start_early()  # The process that parses what they changed imports its modules meanwhile.
        read = list(read_hits(history.repository, missing))
        _keep(history, [hit for hit, is_complete in read if is_complete])
        hits |= {hit.id: hit for hit, _ in read}
    ranked = [hits[commit] for commit in scores if commit in hits]
    return tuple(replace(hit, rank=rank, score=scores[hit.id]) for rank, hit in enumerate(ranked, 1))


def _kept(history: History, ids: Iterable[str]) -> dict[str, CommitHit]:
    hits: dict[str, CommitHit] = {}
    with suppress(*_LOST), opened(history) as connection:
        for commit in ids:
            asked = "SELECT hit FROM hits WHERE id = ? AND parsers = ?", (commit, _parsers())
            if connection and (row := connection.execute(*asked).fetchone()):
                values = json.loads(row[0])
                values["paths"] = tuple(values["paths"])
                values["definitions"] = tuple(ChangedDefinition(**each) for each in values["definitions"])
                hits[commit] = CommitHit(**values)
    return hits


def _keep(history: History, hits: Iterable[CommitHit]) -> None:
    rows = [(hit.id, _parsers(), json.dumps(asdict(hit))) for hit in hits]
    with suppress(*_LOST), opened(history) as connection:
        if connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO hits VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")


@cache
def _parsers() -> str:
    """Return what changes with the definitions that are found."""
    return digest_of(IndexConfig(), str(FORMAT_VERSION))
