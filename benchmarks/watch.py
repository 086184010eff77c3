"""How soon a saved file is found, and what watching costs -> `results/watch.json`.

`python -m benchmarks.watch ROOT HOME` watches a folder that is indexed in HOME. It writes files below ROOT and removes
them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.process import INSTALLED, quantiles, tree_cpu_ticks, tree_rss_bytes
from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.search.request import SearchRequest

PAGE = DEV_DOCS / "bench-commands.md"
_SAVES, _BURST, _IDLE_S, _PATIENCE_S = 20, 5_000, 70.0, 120.0


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="indexed folder; files are written to it and removed again")
    parser.add_argument("home", type=Path, help="folder of its index")
    options = parser.parse_args()
    root, home = options.root, options.home
    engine = Engine(home)
    with _watching(root, home) as pid:
        found = engine.dependencies(root)
        assert found
        rows = {
            "documents": found.documents,
            "folders": len(found.folders),
            "idle_cpu_percent": _idle_percent(pid),
            "rss_before_mb": _rss_mb(pid),
            "saved_in_place": _saves(engine, root, _write),
            "saved_by_rename": _saves(engine, root, _replace),
            "rss_after_saves_mb": _rss_mb(pid),
            "bursts": [_burst(engine, root, pid) for _ in range(2)],
        }
    record("watch", rows, flat=True)
    fill(PAGE, "watch", table(rows))


def table(rows: dict[str, Any]) -> str:
    """Lay the rows out for the page."""
    saves = rows["saved_in_place"], rows["saved_by_rename"]
    bursts = rows["bursts"]
    cells = [
        (
            "saved file found, median",
            " to ".join(f"{value:.2f}" for value in sorted(save["p50_ms"] / 1000 for save in saves)) + " s",
        ),
        ("saved file found, 95th percentile", f"{max(save['p95_ms'] for save in saves) / 1000:.2f} s"),
        (
            f"{bursts[0]['files']:,} new files found",
            f"{max(burst['found_after_last_write_s'] for burst in bursts):.1f} s",
        ),
        ("CPU while nothing changes", f"{rows['idle_cpu_percent']:.2f}% of a core"),
        ("memory, at the start", f"{rows['rss_before_mb']:.0f} MB"),
        (f"and after {len(bursts)} such bursts", f"{max(burst['rss_after_mb'] for burst in bursts):.0f} MB"),
    ]
    return "\n".join([line(["", ""]), "|---|---|", *map(line, cells)])


@contextmanager
def _watching(root: Path, home: Path) -> Iterator[int]:
    command = [sys.executable, "-m", "codesearch", "watch", str(root), "--home", str(home)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, **INSTALLED}, text=True
    ) as process:
        try:
            assert process.stdout
            while ": watching " not in process.stdout.readline():
                assert process.poll() is None
            time.sleep(5.0)
            yield process.pid
        finally:
            process.terminate()


def _idle_percent(pid: int) -> float:
    """Return how busy the watcher keeps a core while nothing changes."""
    before = sum(tree_cpu_ticks(pid).values())
    time.sleep(_IDLE_S)
    used_s = (sum(tree_cpu_ticks(pid).values()) - before) / os.sysconf("SC_CLK_TCK")
    return round(100 * used_s / _IDLE_S, 3)


def _rss_mb(pid: int) -> float:
    return round(tree_rss_bytes(pid) / 1e6, 1)


def _saves(engine: Engine, root: Path, save: Callable[[Path, str], None]) -> dict[str, float]:
    """Save a file several times; time from the end of the save until a search finds its new function."""
    path = root / "watch_benchmark.py"
    times = []
    for number in range(_SAVES):
        name = f"watched_{save.__name__.strip('_')}_{number}"
        save(path, f"def {name}():\n    return {number}\n")
        times.append(1000 * _until_found(engine, root, name))
        time.sleep(0.5)
    path.unlink()
    time.sleep(5.0)
    first, *others = times
    return {"first_ms": round(first, 1), **quantiles(others), "max_ms": round(max(others), 1)}


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def _replace(path: Path, text: str) -> None:
    part = path.with_name("part.py")
    part.write_text(text)
    part.replace(path)


def _until_found(engine: Engine, root: Path, name: str) -> float:
    """Wait until a search without an update finds a function; return the seconds."""
    started = time.perf_counter()
    request = SearchRequest(name, mode="lexical", top_k=1)
    while time.perf_counter() < started + _PATIENCE_S:
        hits = engine.search(request, Scope(roots=(root,)), refresh=False).hits
        if hits and hits[0].name == name:
            return time.perf_counter() - started
        time.sleep(0.05)  # Searching without a pause would keep busy the core that the watcher needs.
    raise TimeoutError(f"{name} was not found in {_PATIENCE_S:.0f} s")


def _burst(engine: Engine, root: Path, pid: int) -> dict[str, Any]:
    folder = root / "watch_benchmark"
    before_mb = _rss_mb(pid)
    try:
        started = time.perf_counter()
        for number in range(_BURST):
            path = folder / str(number % 100) / f"{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"def burst_function_{number}():\n    return {number}\n")
        written_s = time.perf_counter() - started
        found_s = _until_found(engine, root, f"burst_function_{_BURST - 1}")
        time.sleep(10.0)
        after_mb = _rss_mb(pid)
    finally:
        shutil.rmtree(folder)
    time.sleep(15.0)
    return {
        "files": _BURST,
        "written_s": round(written_s, 2),
        "found_after_last_write_s": round(found_s, 2),
        "rss_before_mb": before_mb,
        "rss_after_mb": after_mb,
        "rss_after_removal_mb": _rss_mb(pid),
    }


if __name__ == "__main__":
    main()
