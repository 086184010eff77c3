"""A measurement -> a JSON that says where, when and with what it was made."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from codesearch.evaluation.environment import describe_environment

RESULTS = Path(__file__).parent / "results"


def record(name: str, rows: Any, *, flat: bool = False) -> None:  # noqa: ANN401 - whatever was measured.
    """Write `results/<name>.json` and print the rows, which stand under `rows`, or `flat` beside the rest."""
    found = {
        "command": f"python -m benchmarks.{Path(sys.argv[0]).stem} {' '.join(sys.argv[1:])}".strip(),
        **describe_environment(),
        **(rows if flat else {"rows": rows}),
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
