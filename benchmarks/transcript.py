"""Three trees -> `benchmarks/results/transcript.md`: thirty queries and their hits as printed, for people to read."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.command import printed

QUERIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "python": (
        ("copy a directory tree",),
        ("median of a list of numbers",),
        ("parse command line arguments",),
        ("remove html tags from a string",),
        ("retry a network request with backoff",),
        ("how do I run a shell command and get its output",),
        ("OrderedDict.move_to_end",),
        ("readLines",),
        ("where is the default encoding decided",),
        ("random temporary file name", "--files"),
        ("connect to a postgres database",),
        ("split text into lines of at most 70 characters", "--explain", "-n", "2"),
    ),
    "javascript": (
        ("send a json response",),
        ("cancel a request",),
        ("parse the query string of a url",),
        ("set a cookie",),
        ("retry when the token expires",),
        ("useState",),
        ("merge config objects",),
        ("serve static files",),
        ("compare two values with Object.is semantics", "--kind", "function"),
    ),
    "go": (
        ("match a route by its path",),
        ("redirect with a trailing slash",),
        ("generate bash completion",),
        ("Router.HandleFunc",),
        ("suggest similar command names",),
        ("hide a command from the help",),
        ("allow requests from other origins",),
        ("write a man page for each command",),
        ("open a tcp socket",),
    ),
}
_PAGE = Path(__file__).parent / "results" / "transcript.md"
_HEAD = """# Thirty queries, as printed

`python -m benchmarks.transcript PYTHON JAVASCRIPT GO` writes this page. The trees of this run:

| tree | documents | files |
|---|---|---|
{rows}
"""


def main() -> None:
    """Index the trees, ask, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in QUERIES:
        parser.add_argument(name, type=Path, help=f"folder with {name} sources")
    parser.add_argument("--home", type=Path, default=Path("build/transcript"), help="folder of the indexes")
    arguments = parser.parse_args()
    rows, parts = [], []
    for name, queries in QUERIES.items():
        tree = getattr(arguments, name)
        printed(tree, "index", ".", "--exclude", "site-packages", "--exclude", "/test/", home=arguments.home)
        found = json.loads(printed(tree, "status", "--json", home=arguments.home))
        status = next(one for one in found if Path(one["root"]) == tree.resolve())
        rows.append(f"| {name} | {status['documents']:,} | {status['files']:,} |")
        parts += [f"## {name.capitalize()}\n"]
        parts += [_shown(tree, query, arguments.home) for query in queries]
    _PAGE.write_text("\n".join([_HEAD.format(rows="\n".join(rows)), *parts]), encoding="utf-8")


def _shown(tree: Path, query: tuple[str, ...], home: Path) -> str:
    text, *options = query
    output = printed(tree, "query", text, *options, home=home).rstrip()
    shown = " ".join([f'codesearch query "{text}"', *options])
    return f"```\n$ {shown}\n{output}\n```\n"


if __name__ == "__main__":
    main()
