"""Drives the `codesearch` of PyPI in process, in the folder where its command made `code_search_index`."""

from __future__ import annotations

from codesearch.indexer import TantivyIndexer
from timing import print_times

if __name__ == "__main__":
    indexer = TantivyIndexer("code_search_index")
    print_times(lambda query: indexer.search(query, limit=10))
