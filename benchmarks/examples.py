"""The benchmark's sources -> an indexed tree -> `docs/examples.md`: real queries and their answers, as printed."""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
from pathlib import Path

import zstandard

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
    """Unpack, index, ask, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=Path, help="sources.jsonl.zst of the benchmark pack")
    parser.add_argument("tree", type=Path, help="folder to unpack to")
    arguments = parser.parse_args()
    unpack(arguments.sources, arguments.tree)
    _run(arguments.tree, "index", ".")
    (status,) = json.loads(_run(arguments.tree, "status", "--json"))
    parts = [_HEAD.format(**status)]
    for query, *options in QUERIES:
        shown = " ".join([f'codesearch query "{query}"', *options, "-k 5"])
        parts.append(f"## {query}\n\n```console\n$ {shown}\n```\n")
        parts.append(f"```\n{_run(arguments.tree, 'query', query, *options, '-k', '5').rstrip()}\n```\n")
    _PAGE.write_text("\n".join(parts), encoding="utf-8")


def unpack(sources: Path, tree: Path) -> None:
    """Write each file of a benchmark pack to `tree/owner/repository/commit/path`."""
    with open(sources, "rb") as packed:
        for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8"):
            row = json.loads(line)
            path = tree / row["repo"] / row["sha"] / row["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(row["text"].encode())


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
