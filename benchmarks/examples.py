"""The benchmark's sources -> an indexed tree -> `docs/examples.md`: real queries with the printed answers."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from codesearch.evaluation.pack import unpack

QUERIES = (
    ("convert int to string", "--lang", "python"),
    ("compute the md5 hash of a file",),
    ("priority queue", "--kind", "class"),
    ("parse a url query string", "--lang", "javascript"),
    ("validate email address",),
)
_PAGE = Path(__file__).parent.parent / "docs" / "examples.md"
_HEAD = """# Examples

Answers as printed, over the {files:,} source files of CodeSearchNet's 99-query challenge ({documents:,} documents
of six languages). The tree is laid out as `owner/repository/commit/path`. Made by
`python -m benchmarks.examples SOURCES TREE` with the sources of the benchmark pack.
"""


def main() -> None:
    """Unpack and index the sources, ask the queries and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, help="sources.jsonl.zst of the benchmark pack")
    parser.add_argument("tree", type=Path, help="folder to unpack to; an existing one is used as it is")
    arguments = parser.parse_args()
    if not arguments.tree.exists():
        unpack(arguments.sources, arguments.tree, lambda stage, done, total: None)
    _run(arguments.tree, "index", ".")
    (status,) = json.loads(_run(arguments.tree, "status", "--json"))
    parts = [_HEAD.format(**status)]
    for query, *options in QUERIES:
        shown = " ".join([f'codesearch query "{query}"', *options, "-k 5"])
        parts.append(f"## {query}\n\n```console\n$ {shown}\n```\n")
        parts.append(f"```\n{_run(arguments.tree, 'query', query, *options, '-k', '5').rstrip()}\n```\n")
    _PAGE.write_text("\n".join(parts), encoding="utf-8")


def _run(tree: Path, command: str, *arguments: str) -> str:
    words = [
        sys.executable,
        "-m",
        "codesearch",
        command,
        *arguments,
        "--home",
        str(tree.absolute()) + ".home",
    ]
    return subprocess.run(words, cwd=tree, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
