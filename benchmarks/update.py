"""One changed file: time, memory and bytes written of the update, and the query after -> `results/update.json`.

A tree is copied and indexed. Then a function is appended to one file at a time. `codesearch index` takes up one change,
a query from the shell the next, and `Engine.refresh` of a running process the one after. Without TREE, the tree is
CPython's standard library.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import Usage, folder_mb, measured
from benchmarks.record import record
from benchmarks.speed import WORK, described_starts, standard_library
from codesearch.engine.engine import Engine
from codesearch.index.catalogue import index_folder

_QUESTION = "parse a date"


def main() -> None:
    """Measure each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, help="folders of sources with Python files")
    parser.add_argument(
        "--work", type=Path, default=Path("build/update"), help="folder for copies and indexes"
    )
    parser.add_argument("--updates", type=int, default=9, help="changes of each kind")
    options = parser.parse_args()
    trees = options.trees or [standard_library(WORK / "stdlib")]
    record("update", [measure(tree, options.work.resolve(), options.updates) for tree in trees])


def measure(source: Path, work: Path, updates: int) -> dict[str, Any]:
    """Return the figures of one tree; the source itself is not changed."""
    tree, home = work / "tree", work / "home"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source, tree, symlinks=True)
    engine = Engine(home, device="cpu")
    report = engine.index(tree)
    folder = index_folder(home, tree)
    index_mb = folder_mb(folder)
    targets = sorted(tree.rglob("*.py"))[:: max(1, report.files // (5 * updates))]

    by_index, written_mb, by_query, refreshes_s, unchanged_s = [], [], [], [], []
    for number in range(updates):
        _append(targets[number % len(targets)], number, "index")
        before = _files(folder)
        by_index.append(_run("index", tree, "--home", home, "--device", "cpu"))
        written_mb.append(sum(size for _, size, _ in _files(folder) - before) / 1e6)

        _append(targets[number % len(targets)], number, "query")
        by_query.append(_run("query", _QUESTION, "--root", tree, "--home", home, "--device", "cpu"))

        _append(targets[number % len(targets)], number, "refresh")
        refreshes_s.append(_seconds(engine, tree))
        unchanged_s.append(_seconds(engine, tree))
    unchanged = [
        _run("query", _QUESTION, "--root", tree, "--home", home, "--device", "cpu") for _ in range(updates)
    ]
    return {
        "tree": source.name,
        "files": report.files,
        "folders": sum(1 for path in tree.rglob("*") if path.is_dir()),
        "documents": report.documents,
        "index_mb": index_mb,
        "index_after_one_change": described_starts(by_index),
        "written_mb": _quartiles(written_mb),
        "query_after_one_change": described_starts(by_query),
        "query_unchanged": described_starts(unchanged),
        "refresh_s": _quartiles(refreshes_s),
        "refresh_unchanged_s": _quartiles(unchanged_s),
    }


def _append(path: Path, number: int, kind: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef appended_for_{kind}_{number}(value):\n    return value + {number}\n")


def _run(*words: str | Path) -> Usage:
    usage = measured([sys.executable, "-m", "codesearch", *words])
    if usage.code:
        sys.exit(usage.output)
    return usage


def _files(folder: Path) -> set[tuple[Path, int, int]]:
    """Return path, bytes and time stamp of each file: what is new in this set was written."""
    found = [(path, path.stat()) for path in folder.rglob("*") if path.is_file()]
    return {(path, state.st_size, state.st_mtime_ns) for path, state in found}


def _seconds(engine: Engine, tree: Path) -> float:
    started = time.perf_counter()
    engine.refresh(tree, budget_s=60)
    return time.perf_counter() - started


def _quartiles(values: list[float]) -> dict[str, float]:
    low, middle, high = map(float, np.percentile(values, [25, 50, 75]))
    return {"q1": round(low, 4), "median": round(middle, 4), "q3": round(high, 4)}


if __name__ == "__main__":
    main()
