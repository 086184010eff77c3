"""Records with usual values, for tests that look at a few fields."""

from __future__ import annotations

from typing import Any

from codesearch.types import Hit


def make_hit(code: str, start_line: int = 1, **fields: Any) -> Hit:
    """Return the best hit of a query: the Python function `load` of /src/a.py with some code."""
    last = start_line + code.count("\n")
    usual = {
        "rank": 1,
        "score": 0.5,
        "root": "/src",
        "path": "a.py",
        "language": "python",
        "kind": "function",
        "name": "load",
        "qualified_name": fields.get("name", "load"),
        "docstring": "",
        "end_line": last,
        "last_line": last,
        "signals": {},
    }
    return Hit(**{**usual, **fields, "code": code, "start_line": start_line})
