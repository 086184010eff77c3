"""Time of index, query and start of codesearch and its peers -> `results/speed.json`, docs/dev/speed.md.

All systems get a copy of CPython's standard library in `build/speed`, without installed packages.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers import PEERS, QUERIES, Paths, System, installed, ours, run, run_warm
from benchmarks.process import Usage, folder_mb, quantiles
from benchmarks.publish import README, fill, line, record, shown
from benchmarks.service import PAGE
from codesearch.processes import available_cores

_LEFT_OUT = ("site-packages", "__pycache__", "*.so", "*.a")
_STARTS = 5
WORK = Path("build/speed")


def main() -> None:
    """Measure and record all systems."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=WORK, help="folder for trees and indexes")
    parser.add_argument("--peers", type=Path, default=Path("build/peers"), help="folder for environments")
    parser.add_argument("--only", nargs="*", help="names of systems to measure")
    options = parser.parse_args()
    work, environments = options.work.resolve(), options.peers.resolve()
    tree = standard_library(work / "stdlib")
    rows: dict[str, Any] = {
        system.name: row(system, Paths(tree, work / _slug(system.name), environments / _environment(system)))
        for system in (ours(), *PEERS)
        if not options.only or system.name in options.only
    }
    record("speed", {"standard_library": rows}, flat=True)
    fill(PAGE, "speed", table(rows))
    fill(README, "speed", short_table(rows))


def _slug(name: str) -> str:
    return name.replace(",", "").replace(" ", "-")


def _environment(system: System) -> str:
    """Name the environment with a system's packages; several systems may share it."""
    return _slug("-".join(system.packages)).replace("==", "-")


def standard_library(tree: Path = WORK / "stdlib") -> Path:
    """Copy the running Python's standard library, unless the copy exists."""
    if not tree.exists():
        shutil.copytree(sysconfig.get_path("stdlib"), tree, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    return tree


def row(system: System, paths: Paths) -> dict[str, Any]:
    """Measure one system; after a failure, its row gives the reason."""
    print(f"{system.name} ...", file=sys.stderr)
    if system.packages and (reason := installed(system, paths.environment)):
        return {"failed": reason}
    shutil.rmtree(paths.store, ignore_errors=True)
    paths.store.mkdir(parents=True)
    found: dict[str, Any] = {"packages": list(system.packages), "note": system.note}
    if system.index:
        first = run(system, paths, system.index(paths))
        if first.code:
            return {**found, "failed": _last_line(first.output)}
        found["index"] = described(first)
        found["disk_mb"] = folder_mb(paths.store)
        if not system.packages:
            found["again"] = described(run(system, paths, system.index(paths)))
    starts = cold_starts(system, paths)
    if failed := [start for start in starts if start.code]:
        return {**found, "failed": _last_line(failed[0].output)}
    found["cold_query"] = described_starts(starts)
    if system.warm:
        times_ms = json.loads(run_warm(system, paths, system.warm(paths), json.dumps(QUERIES)))
        found["warm_query"] = quantiles(times_ms)
    return found


def cold_starts(system: System, paths: Paths) -> list[Usage]:
    """Ask a few queries, each in a separate process."""
    return [run(system, paths, system.query(paths, QUERIES[number])) for number in range(_STARTS)]


def described_starts(starts: Sequence[Usage]) -> dict[str, float]:
    """Return the figures of several runs of a command."""
    return {
        "wall_s": round(float(np.median([start.wall_s for start in starts])), 3),
        "peak_mb": max(start.peak_mb for start in starts),
    }


def described(usage: Usage) -> dict[str, float]:
    """Return the figures of one run."""
    return {
        "wall_s": usage.wall_s,
        "cpu_s": usage.cpu_s,
        "cores_busy": round(usage.utilisation(available_cores()), 2),
        "peak_mb": usage.peak_mb,
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Lay out the rows for the page, with a dash for what a system does not have."""
    head = ["", "index s", "CPU s", "peak MB", "disk MB", "cold query s", "its MB", "warm p50 ms", "p95 ms"]
    lines = [line(head), "|---" * len(head) + "|"]
    for name, found in rows.items():
        if "failed" in found:
            lines.append(line([name, found["failed"], *[""] * (len(head) - 2)]))
            continue
        index, cold, warm = (found.get(key, {}) for key in ("index", "cold_query", "warm_query"))
        figures = [
            index.get("wall_s"),
            index.get("cpu_s"),
            index.get("peak_mb"),
            found.get("disk_mb"),
            cold.get("wall_s"),
            cold.get("peak_mb"),
            warm.get("p50_ms"),
            warm.get("p95_ms"),
        ]
        lines.append(line([name, *[shown(value) for value in figures]]))
    notes = [f"- {name}: {found['note']}" for name, found in rows.items() if found.get("note")]
    return "\n".join([*lines, "", *notes])


def short_table(rows: dict[str, dict[str, Any]]) -> str:
    """Lay out the rows of three systems for README.md."""
    systems = [rows[name] for name in ("codesearch", "semble", "ripgrep")]
    found = [line(["", "codesearch", "semble", "ripgrep"]), line(["---"] * 4)]
    for title, key, form in (
        ("index", "index", "{wall_s:,.1f} s, {peak_mb:,.0f} MB"),
        ("query from the shell", "cold_query", "{wall_s:.2f} s, {peak_mb:,.0f} MB"),
        ("query in a running process, median", "warm_query", "{p50_ms:.1f} ms"),
    ):
        found.append(line([title, *(form.format(**one[key]) if one.get(key) else "–" for one in systems)]))
    return "\n".join(found)


def _last_line(output: str) -> str:
    return f"failed: {(output.strip().splitlines() or ['no output'])[-1][:200]}"


if __name__ == "__main__":
    main()
