"""The benchmark's sources -> an indexed tree -> `docs/examples.md`: real queries and their hits, as printed."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.command import printed
from benchmarks.publish import DOCS
from codesearch.evaluation.jsonl import unpack

QUERIES = (
    ("convert int to string", "--lang", "python"),
    ("compute the md5 hash of a file",),
    ("priority queue", "--kind", "class"),
    ("parse a url query string", "--lang", "javascript"),
    ("validate email address", "--compact"),
    ("read a file line by line", "--lang", "go", "--explain"),
)
_PAGE = DOCS / "examples.md"
_HEAD = """# Examples

Real queries and their hits as printed. They search the {files:,} source files of CodeSearchNet's 99-query challenge
({documents:,} documents of six languages), in folders `owner/repository/commit/path`.
`python -m benchmarks.examples SOURCES TREE` writes this page from the sources of the benchmark pack.
"""


def main() -> None:
    """Unpack, index, ask, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, help="sources.jsonl.zst of the benchmark pack")
    parser.add_argument("tree", type=Path, help="folder to unpack to, unless it is there")
    arguments = parser.parse_args()
    if not arguments.tree.exists():
        unpack(arguments.sources, arguments.tree, lambda stage, done, total: None)
    home = arguments.tree.with_suffix(".home")
    printed(arguments.tree, "index", ".", home=home)
    (status,) = json.loads(printed(arguments.tree, "status", "--json", home=home))
    parts = [_HEAD.format(**status)]
    for query, *options in QUERIES:
        shown = " ".join([f'codesearch query "{query}"', *options])
        parts.append(f"## {query.capitalize()}\n\n```console\n$ {shown}\n```\n")
        output = printed(arguments.tree, "query", query, *options, home=home)
        parts.append(f"```\n{output.rstrip()}\n```\n")
    _PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
