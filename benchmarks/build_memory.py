"""Versions of the code index the same trees in turns -> medians of time and memory: `results/NAME.json`.

Each tree is indexed from nothing, then again with one file changed. The cache of vectors is filled before, so that what
the model takes, which is the same in all versions, is left out; below `VectorConfig.hnsw_threshold` no graph is made.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.process import Usage, measured
from benchmarks.record import record
from codesearch.index.catalogue import index_folder
from codesearch.index.manifest import read_manifest

_FIGURES = ("wall_s", "cpu_s", "own_peak_mb", "peak_mb")


def main() -> None:
    """Measure all versions over all trees."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", nargs="+", type=Path, help="folders of source files")
    parser.add_argument("--code", nargs="+", required=True, help="NAME=FOLDER of each version's checkout")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--name", default="build_memory", help="of the JSON")
    parser.add_argument(
        "--work", type=Path, default=Path("build/memory"), help="folder for copies and indexes"
    )
    options = parser.parse_args()
    versions = {
        name: Path(folder).resolve() for name, _, folder in (text.partition("=") for text in options.code)
    }
    record(
        options.name,
        [row(tree, versions, options.work.resolve(), options.rounds) for tree in options.trees],
    )


def row(tree: Path, versions: dict[str, Path], work: Path, rounds: int) -> dict[str, Any]:
    """Index a copy of a tree, by each version in turn, so often."""
    copy, home = work / "tree", work / "home"
    for place in (copy, home):
        shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(tree, copy)
    changed = max((path for path in copy.rglob("*.py")), key=lambda path: path.stat().st_size)
    index(copy, home, next(iter(versions.values())))
    usages: dict[str, list[Usage]] = {}
    for _ in range(rounds):
        for name, code in versions.items():
            shutil.rmtree(home / "indexes")
            usages.setdefault(f"{name}, from nothing", []).append(index(copy, home, code))
            with open(changed, "a", encoding="utf-8") as file:
                file.write("\n\ndef one_more():\n    pass\n")
            usages.setdefault(f"{name}, one file changed", []).append(index(copy, home, code))
    documents = read_manifest(index_folder(home, copy)).documents
    figures = {name: medians(runs) for name, runs in usages.items()}
    return {"documents": documents, "rounds": rounds, **figures}


def index(tree: Path, home: Path, code: Path) -> Usage:
    """Run a version's `codesearch index`."""
    command = [sys.executable, "-m", "codesearch", "index", tree, "--home", home]
    usage = measured(command, folder=code, environment={"PYTHONPATH": str(code)})
    if usage.code:
        sys.exit(usage.output)
    return usage


def medians(usages: list[Usage]) -> dict[str, float]:
    """Return the median of each figure."""
    return {name: round(median(getattr(usage, name) for usage in usages), 2) for name in _FIGURES}


if __name__ == "__main__":
    main()
