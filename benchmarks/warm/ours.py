"""Drives codesearch in process, without its check for changed files: `warm ROOT HOME`, filters as FIELD=VALUE."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.warm.timing import print_times
from codesearch import Engine, Filters, Scope


def main(root: str, home: str, *filters: str) -> None:
    """Open one index and answer from it."""
    engine, scope = Engine(home), Scope((Path(root),))
    values: dict[str, tuple[str, ...]] = {}
    for name, _, value in (text.partition("=") for text in filters):
        values[name] = (*values.get(name, ()), value)
    chosen = Filters(**values)
    print_times(lambda query: engine.search(query, scope, top_k=10, filters=chosen, refresh=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
