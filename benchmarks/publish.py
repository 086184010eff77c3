"""What was measured -> a JSON with the machine and the versions, and tables in a page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codesearch.evaluation.result import describe_environment

README = Path(__file__).parents[1] / "README.md"
DOCS = README.parent / "docs"
DEV_DOCS = DOCS / "dev"
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


def line(cells: Sequence[str]) -> str:
    """Lay out one row of a table.

    >>> line(["a", "b"])
    '| a | b |'
    """
    return "| " + " | ".join(cells) + " |"


def shown(value: float | None, form: str = ",") -> str:
    """Write a figure, or a dash if it was not measured.

    >>> shown(1234.5), shown(0.98765, ".2f"), shown(None)
    ('1,234.5', '0.99', '–')
    """
    return "–" if value is None else format(value, form)


def fill(page: Path, name: str, table: str) -> None:
    """Replace the text of a page between `<!-- NAME -->` and `<!-- /NAME -->`."""
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    text = page.read_text("utf-8")
    before, rest = text.split(start, 1)
    _, after = rest.split(end, 1)
    page.write_text(f"{before}{start}\n{table}\n{end}{after}", "utf-8")
