"""Usages of names -> times in `results/usages.json` and a table of docs/dev/bench-commands.md.

`python -m benchmarks.usages` indexes a copy of CPython's standard library and asks for names that few, some and many
definitions have the words of.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

from benchmarks.process import quantiles
from benchmarks.publish import DEV_DOCS, fill, line, record
from benchmarks.speed import WORK, standard_library
from codesearch import Engine, Scope
from codesearch.config import RankConfig
from codesearch.engine.session import AS_INDEXED
from codesearch.search.lexical import LexicalScorer
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.text.terms import terms_of

_NO_LIMIT = 1_000_000
_GROUPS = {"rare": (1, 20), "middle": (21, 400), "frequent": (401, _NO_LIMIT)}
"""How many definitions have all words of the names of a group."""
_NAMES = 25
"""Of each group."""
_USUAL = ("get", "open", "run", "append", "write", "name", "close", "main", "update", "copy")
"""These names are always asked for, if they are defined, because they are the most expensive ones."""
_ROUNDS = 5


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=WORK, help="folder for the library and the indexes")
    options = parser.parse_args()
    engine = Engine(options.work.resolve() / "usages-home")
    library = standard_library(options.work.resolve() / "stdlib")
    rows = {"library": times(engine, library)}
    record("usages", rows, flat=True)
    fill(DEV_DOCS / "bench-commands.md", "usages", table_of_times(rows["library"]))


def times(engine: Engine, root: Path) -> dict[str, Any]:
    """Time the usages of names of three groups, in this process, without a refresh."""
    documents = engine.index(root).documents
    scope = Scope((root,))
    with engine.session(scope, AS_INDEXED).indexes() as (index,):
        groups = names_by_group(index)
    found: dict[str, Any] = {"documents": documents}
    everything: list[float] = []
    for group, names in groups.items():
        measured: list[float] = []
        answers = [engine.session(scope, AS_INDEXED).usages(name).found for name in names]
        for _ in range(_ROUNDS):
            for name in names:
                started = time.perf_counter()
                engine.session(scope, AS_INDEXED).usages(name)
                measured.append(1000 * (time.perf_counter() - started))
        everything += measured
        found[group] = {
            "names": len(names),
            "examples": names[:5],
            "mean_usages": round(sum(one.usage_count for one in answers) / len(answers)),
            "names_with_unread_files": sum(one.unread_files > 0 for one in answers),
            **quantiles(measured),
        }
    return {**found, "all": quantiles(everything)}


def names_by_group(index: IndexReader) -> dict[str, list[str]]:
    """Choose names of definitions by how many definitions have all words of them."""
    scorer = LexicalScorer(Snapshot([index]), RankConfig())
    groups: dict[str, list[str]] = {group: [] for group in _GROUPS}
    for name in shuffled_names(index):
        count = len(scorer.with_all(sorted(terms_of(name))))
        for group, (least, most) in _GROUPS.items():
            if least <= count <= most and len(groups[group]) < _NAMES:
                groups[group].append(name)
    return groups


def shuffled_names(index: IndexReader) -> list[str]:
    """Return the names of all definitions that are one word: the usual ones, then the others in a random order."""
    found = {
        row.name
        for segment in index.segments
        for file in segment.files
        for row in segment.store.document_rows(file)
        if row.name.isidentifier() and terms_of(row.name)
    }
    names = sorted(found - set(_USUAL))
    random.Random(1).shuffle(names)
    return [*(name for name in _USUAL if name in found), *names]


def table_of_times(library: dict[str, Any]) -> str:
    """Lay out the times."""
    rows = [line(["names", "definitions with the words", "p50", "p95"]), "|---|---|---|---|"]
    for group, (least, most) in _GROUPS.items():
        several = f"{least:,} to {most:,}" if most < _NO_LIMIT else f"more than {least - 1:,}"
        found = library[group]
        times = (f"{found[of]:.0f} ms" for of in ("p50_ms", "p95_ms"))
        rows.append(line([f"{found['names']} {group}", several, *times]))
    return "\n".join(rows)


if __name__ == "__main__":
    main()
