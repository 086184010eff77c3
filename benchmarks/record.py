"""A measurement -> a JSON with the machine, the date and the versions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from codesearch.evaluation.result import describe_environment

RESULTS = Path(__file__).parent / "results"


def record(name: str, rows: Any, *, flat: bool = False) -> None:  # noqa: ANN401 - whatever was measured.
    """Write `results/<name>.json` and print the rows. They are under `rows`, or with `flat` at the top level."""
    found = {
        "command": f"python -m benchmarks.{Path(sys.argv[0]).stem} {' '.join(sys.argv[1:])}".strip(),
        **describe_environment(),
        **(rows if flat else {"rows": rows}),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(rows, indent=1))
