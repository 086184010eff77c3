"""A measurement -> a JSON that says where, when and with what it was made."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

RESULTS = Path(__file__).parent / "results"
_PACKAGES = (
    "codesearch-local",
    "numpy",
    "onnxruntime",
    "torch",
    "hnswlib",
    "tree-sitter",
    "sqlite-utils",
    "tokenizers",
)


def record(name: str, rows: Any) -> None:  # noqa: ANN401 - whatever the script measured.
    """Write `results/<name>.json` and print the rows."""
    found = {
        "command": f"python -m benchmarks.{Path(sys.argv[0]).stem} {' '.join(sys.argv[1:])}".strip(),
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {"python": platform.python_version(), **_versions()},
        "rows": rows,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(rows, indent=1))


def median_ms(call: Callable[[], object], repeats: int = 15) -> float:
    """Time a call: the median of `repeats` runs after a warm-up, in milliseconds."""
    call()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return round(1000 * median(times), 3)


def _commit() -> str:
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next(
        (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine()
    )


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
