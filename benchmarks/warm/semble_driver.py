"""Drives semble in process, from the cache that its own command wrote: `warm ROOT`."""

from __future__ import annotations

import sys

from semble.index import SembleIndex
from timing import print_times

if __name__ == "__main__":
    index = SembleIndex.from_path(sys.argv[1])
    print_times(lambda query: index.search(query, top_k=10))
