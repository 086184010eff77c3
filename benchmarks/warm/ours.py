"""Drives codesearch in process: `warm ROOT HOME`, filters as FIELD=VALUE."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.warm.timing import print_times
from codesearch.encoding.onnx import OnnxEncoder
from codesearch.index.catalogue import index_folder
from codesearch.index.reader import IndexReader
from codesearch.search.filters import Filters
from codesearch.search.searcher import Searcher


def main(root: str, home: str, *filters: str) -> None:
    """Open one index and answer from it."""
    index = IndexReader.open(index_folder(Path(home), Path(root)))
    searcher = Searcher([index], OnnxEncoder.load(index.manifest.model_folder))
    values: dict[str, tuple[str, ...]] = {}
    for name, _, value in (text.partition("=") for text in filters):
        values[name] = (*values.get(name, ()), value)
    chosen = Filters(**values)
    print_times(lambda query: searcher.search(query, 10, chosen))


if __name__ == "__main__":
    main(*sys.argv[1:])
