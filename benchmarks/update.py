"""Update after one changed file, and the next query -> `results/update.json`, a table of docs/dev/speed.md.

A tree is copied and indexed. Then a function is appended to one file at a time. The changes are indexed in turn by
`codesearch index`, by a query from the shell and by `Engine.refresh` in a running process. At the
end, queries over one segment and over eight are timed in turn. Without TREE, the tree is CPython's standard library.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import QUERIES
from benchmarks.process import Usage, folder_mb, measured, seconds_of
from benchmarks.publish import DEV_DOCS, fill, line, record
from benchmarks.speed import WORK, described_starts, standard_library
from codesearch.build import build
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import read_manifest

_HERE = Path(__file__).resolve().parents[1]
_QUESTION = "parse a date"
_ROUNDS = 30
_LARGE_FILES = 10_000
"""A tree with more files is indexed only once, and its queries are not timed by segments."""


def main() -> None:
    """Measure each tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="*", type=Path, help="folders of sources with Python files")
    parser.add_argument(
        "--work", type=Path, default=Path("build/update"), help="folder for copies and indexes"
    )
    parser.add_argument("--updates", type=int, default=9, help="changes of each kind")
    parser.add_argument("--fresh", type=int, default=3, help="number of new indexes")
    options = parser.parse_args()
    trees = options.trees or [standard_library(WORK / "stdlib")]
    work = options.work.resolve()
    rows = [measure(tree, work, updates=options.updates, fresh=options.fresh) for tree in trees]
    record("update", rows)
    fill(DEV_DOCS / "speed.md", "update", table(rows))


def measure(source: Path, work: Path, *, updates: int, fresh: int = 1) -> dict[str, Any]:
    """Return the figures of one tree; the source does not change."""
    tree, home = work / "tree", work / "home"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(source, tree, symlinks=True)
    files = sorted(tree.rglob("*.py"))
    is_large = sum(1 for path in tree.rglob("*") if path.is_file()) > _LARGE_FILES
    fresh_runs = []
    for _ in range(1 if is_large else fresh):
        shutil.rmtree(home, ignore_errors=True)
        fresh_runs.append(_run("index", tree, "--home", home))
    manifest = read_manifest(index_folder(home, tree))
    found = {
        "tree": source.name,
        "files": manifest.source_files,
        "folders": sum(1 for path in tree.rglob("*") if path.is_dir()),
        "documents": manifest.documents,
        "index_mb": folder_mb(index_folder(home, tree)),
        "fresh_index": described_starts(fresh_runs),
    }

    engine = Engine(home, device="cpu")
    targets = files[:: max(1, len(files) // (5 * updates))]
    by_index, written_mb, by_query, refreshes_s, unchanged_s = [], [], [], [], []
    for number in range(updates):
        target = targets[number % len(targets)]
        _append(target, number, "index")
        before = _files(index_folder(home, tree))
        by_index.append(_run("index", tree, "--home", home))
        written_mb.append(sum(size for _, size, _ in _files(index_folder(home, tree)) - before) / 1e6)

        _append(target, number, "query")
        by_query.append(_run("query", _QUESTION, "--root", tree, "--home", home))

        _append(target, number, "refresh")
        refreshes_s.append(seconds_of(lambda: engine.refresh(tree, budget_s=60)))
        unchanged_s.append(seconds_of(lambda: engine.refresh(tree, budget_s=60)))
    unchanged = [_run("query", _QUESTION, "--root", tree, "--home", home) for _ in range(updates)]
    return {
        **found,
        "index_after_one_change": described_starts(by_index),
        "written_mb": _quartiles(written_mb),
        "query_after_one_change": described_starts(by_query),
        "query_unchanged": described_starts(unchanged),
        "refresh_s": _quartiles(refreshes_s),
        "refresh_unchanged_s": _quartiles(unchanged_s),
        **({} if is_large else {"query_ms": query_by_segments(tree, work)}),
    }


def query_by_segments(tree: Path, work: Path) -> dict[str, Any]:
    """Return the time of a query in process over one segment and over eight, asked in turn."""
    engines = {}
    for segment_bytes in (1 << 40, 1):  # 1 makes segments of the smallest size, 1/8 of the tree.
        build._SEGMENT_BYTES, usual = segment_bytes, build._SEGMENT_BYTES
        home = work / f"segments-{segment_bytes}"
        try:
            engine = Engine(home, device="cpu")
            engine.index(tree)
        finally:
            build._SEGMENT_BYTES = usual
        engines[len(read_manifest(index_folder(home, tree)).segments)] = engine
    times_ms: dict[int, list[float]] = {count: [] for count in engines}
    for number in range(_ROUNDS):
        for query in QUERIES:
            for count, engine in engines.items():
                seconds = seconds_of(
                    lambda engine=engine, query=query: engine.search(query, Scope(), top_k=10, refresh=False)
                )
                if number:
                    times_ms[count].append(1000 * seconds)
    for engine in engines.values():
        engine.close()
    return {str(count): _quartiles(values) for count, values in times_ms.items()}


def table(rows: list[dict[str, Any]]) -> str:
    """Lay out the medians for the page."""
    seconds = (
        ("`codesearch index`, one changed file", "index_after_one_change", "wall_s", ".2f"),
        ("`query` from the shell, one changed file", "query_after_one_change", "wall_s", ".2f"),
        ("`query` from the shell, nothing changed", "query_unchanged", "wall_s", ".2f"),
        ("`Engine.refresh`, one changed file", "refresh_s", "median", ".2f"),
        ("`Engine.refresh`, nothing changed", "refresh_unchanged_s", "median", ".3f"),
    )
    lines = [
        line([name, *(f"{row[key][value]:{form}} s" for row in rows)]) for name, key, value, form in seconds
    ]
    for count, name in (("1", "one segment"), ("8", "eight segments")):
        times = [row.get("query_ms", {}).get(count, {}).get("median") for row in rows]
        lines.append(
            line([f"query in one process, {name}", *(f"{time:.1f} ms" if time else "–" for time in times)])
        )
    sizes = [f"{row['documents']:,} documents, {row['files'] + row['folders']:,} paths" for row in rows]
    return "\n".join([line(["", *sizes]), "|---" * (len(rows) + 1) + "|", *lines])


def _append(path: Path, number: int, kind: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n\ndef appended_for_{kind}_{number}(value):\n    return value + {number}\n")


def _run(*words: str | Path) -> Usage:
    command = [sys.executable, "-m", "codesearch", *words, "--device", "cpu"]
    usage = measured(command, folder=_HERE, environment={"PYTHONPATH": str(_HERE)})
    if usage.code:
        sys.exit(usage.output)
    return usage


def _files(folder: Path) -> set[tuple[Path, int, int]]:
    """Return path, bytes and time stamp of each file; the new entries of a later set are the written files."""
    found = [(path, path.stat()) for path in folder.rglob("*") if path.is_file()]
    return {(path, state.st_size, state.st_mtime_ns) for path, state in found}


def _quartiles(values: list[float]) -> dict[str, float]:
    low, middle, high = map(float, np.percentile(values, [25, 50, 75]))
    return {"q1": round(low, 4), "median": round(middle, 4), "q3": round(high, 4)}


if __name__ == "__main__":
    main()
