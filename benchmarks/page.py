"""Figures -> tables in a page of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


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
