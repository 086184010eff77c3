"""What a reader reads until he has the lines that a commit changed -> `results/agent_tasks.json` and a table.

`python -m benchmarks.agents --data DIR` reads the data of the suite `histories`. `agent_tasks.jsonl` has 40 of its
commits, chosen by the hash of the commit: `named` if the subject names a function that was changed, with `places`, the
changed lines as they are in the tree before, and `functions`, those around them. Where a commit only adds lines, the
line above them counts as changed.

Both readers follow a fixed policy, and both recognise the right function when they see its name or a line of it.

- With codesearch: `search` with the subject. If no place is in the answer, but the function is, he reads the lines that
  the answer has for it, and then what that answer names. Else he searches once more, for `MORE` hits.
- With grep: the names in the subject; else lines with its two longest words, then each word alone. He sees the first
  `HEAD` lines of the output. If one is in the right function, he reads the lines around it, then the whole function.

A reader stops when a line of `places` is before his eyes, or loses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.publish import DEV_DOCS, fill, line, record
from benchmarks.suites.repositories import sources_of
from codesearch.engine.engine import Engine
from codesearch.evaluation.judge import BenchOptions
from codesearch.search.forms import has_identifier
from codesearch.text.terms import STOP_WORDS

PAGE = DEV_DOCS / "bench-commands.md"
TASKS = Path(__file__).with_name("agent_tasks.jsonl")
MORE, READS = 30, 4
HEAD, COLUMNS, AROUND, PATTERNS = 50, 200, 20, 8
_OF_COMMITS = frozenset(
    "add added all allow also avoid bug change check correct dont ensure error fix fixed fixes handle issue new not "
    "only remove should support update use using when wrong".split()
)
"""Words of subjects that nobody would search for."""
_HEADING = re.compile(r"(\S+?):(\d+)-(\d+)(?: |$)")
_NUMBERED = re.compile(r"(\d+): ")
_NAMED = re.compile(r"([\w./@+-]+\.\w+):(\d+)(?![-\d:])")
_NEXT = re.compile(r"\bread (\S+:\d+-\d+)$")

Span = tuple[str, int, int]
"""A path, and the first and the last line."""


@dataclass
class Reading:
    """What a reader has read so far."""

    is_done: bool = False
    calls: int = 0
    characters: int = 0

    def add(self, text: str) -> str:
        """Count an answer."""
        self.calls += 1
        self.characters += len(text)
        return text


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="data of the suite histories")
    options = parser.parse_args()
    tasks = [json.loads(row) for row in TASKS.read_text("utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        sources = sources_of(options.data.resolve(), Path(scratch), BenchOptions(home=Path(scratch)))
        rows = asyncio.run(run(tasks, sources, Path(scratch, "home")))
    measured = {"tasks": rows, "summary": summary(rows)}
    record("agent_tasks", measured, flat=True)
    fill(PAGE, "read", table(measured))


async def run(tasks: Sequence[dict[str, Any]], sources: Path, home: Path) -> list[dict[str, Any]]:
    """Return what both readers read for each task."""
    from mcp import Client

    from codesearch.agents.server import make_server

    rows = []
    engine = Engine(home, device="cpu")
    for tree, of_tree in groupby(tasks, key=lambda task: task["tree"]):
        root = (sources / tree).resolve()
        files = {path: text.split("\n") for path, text in _texts(root)}
        async with Client(make_server(engine, root, root)) as client:
            for task in of_tree:
                readers = {"codesearch": await with_search(client, task), "grep": with_grep(files, task)}
                rows.append(
                    {
                        **{name: task[name] for name in ("tree", "commit", "query", "named")},
                        **{
                            name: {"found": one.is_done, "calls": one.calls, "characters": one.characters}
                            for name, one in readers.items()
                        },
                    }
                )
    engine.close()
    return rows


def _texts(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts):
            text = path.read_bytes()
            if b"\0" not in text:
                yield path.relative_to(root).as_posix(), text.decode("utf-8", "replace")


def _span(place: str) -> Span:
    path, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    return path, int(first), int(last or first)


def _places(task: dict[str, Any]) -> set[tuple[str, int]]:
    return {_span(place)[:2] for place in task["places"]}


def _functions(task: dict[str, Any]) -> list[Span]:
    return list(map(_span, task["functions"]))


async def with_search(client: Any, task: dict[str, Any]) -> Reading:  # noqa: ANN401 - `mcp` is an extra.
    """Return what the reader with codesearch reads."""
    reading, places = Reading(), _places(task)

    async def call(tool: str, **arguments: object) -> str:
        result = await client.call_tool(tool, arguments)
        text = reading.add("".join(part.text for part in result.content))
        reading.is_done |= bool(lines_in(text) & places)
        return text

    for more in ({}, {"limit": MORE}):
        text = await call("search", query=task["query"], **more)
        place = recognised(text, _functions(task))
        for _ in range(READS):
            if reading.is_done:
                return reading
            if not place:
                break
            following = _NEXT.search((await call("read", place=place)).rstrip("\n"))
            place = following[1] if following else ""
    return reading


def lines_in(text: str) -> set[tuple[str, int]]:
    """Return the path and number of each line of code in an answer."""
    path, found = "", set()
    for row in text.split("\n"):
        if numbered := _NUMBERED.match(row):
            found.add((path, int(numbered[1])))
        elif heading := _HEADING.match(row):
            path = heading[1]
    return found


def recognised(text: str, functions: Sequence[Span]) -> str:
    """Return how to read the right function if an answer names it, else ""."""
    headings = [_span(f"{path}:{first}-{last}") for path, first, last in _HEADING.findall(text)]
    inside = [
        (last - first, f"{path}:{first}-{last}")
        for path, first, last in headings
        for of, begin, end in functions
        if path == of and first <= end and begin <= last
    ]
    named = [
        f"{of}:{begin}"
        for end_of_path, number in _NAMED.findall(text)
        for of, begin, end in functions
        if f"/{of}".endswith(f"/{end_of_path}") and begin <= int(number) <= end
    ]
    return min(inside)[1] if inside else next(iter(named), "")


def with_grep(files: dict[str, list[str]], task: dict[str, Any]) -> Reading:
    """Return what the reader with grep reads."""
    reading, places, functions = Reading(), _places(task), _functions(task)
    for pattern in patterns(task["query"])[:PATTERNS]:
        wanted = re.compile(pattern)
        matches = [
            (path, number, text)
            for path, lines in files.items()
            for number, text in enumerate(lines, 1)
            if wanted.search(text)
        ][:HEAD]
        reading.add("".join(f"{path}:{number}:{text[:COLUMNS]}\n" for path, number, text in matches))
        seen = {(path, number) for path, number, _ in matches}
        near = next(
            (
                (of, at)
                for path, at in sorted(seen)
                for of in functions
                if path == of[0] and of[1] <= at <= of[2]
            ),
            None,
        )
        if near and not seen & places:
            (path, begin, end), at = near
            for first, last in ((max(at - AROUND, 1), at + AROUND), (begin, end)):
                reading.add("\n".join(files[path][first - 1 : last]) + "\n")
                seen = {(path, number) for number in range(first, last + 1)}
                if seen & places:
                    break
        if seen & places:
            reading.is_done = True
            break
    return reading


def patterns(query: str) -> list[str]:
    """Return what a reader gives to grep, the first pattern first.

    >>> patterns("Fix timeout of connection"), patterns("Fix loadConfig()")
    (['(?i)connection.*timeout|timeout.*connection', '(?i)connection', '(?i)timeout'], ['loadConfig', '(?i)loadconfig'])
    """
    names = [
        re.split(r"[.:#]+", word.strip(".:#"))[-1]
        for word in re.findall(r"[\w.:#]+", query)
        if _is_name(word)
    ]
    plain = dict.fromkeys(word.lower() for word in re.findall(r"[A-Za-z]{3,}", query))
    words = sorted((word for word in plain if word not in STOP_WORDS | _OF_COMMITS), key=len, reverse=True)
    both = ["(?i){0}.*{1}|{1}.*{0}".format(*words[:2])] if len(words) > 1 else []
    found = [*(name for name in names if len(name) > 2), *both, *(f"(?i){word}" for word in words)]
    return list(dict.fromkeys(found))


def _is_name(word: str) -> bool:
    return has_identifier(word) or re.search(r"[a-z][A-Z]|_|::|#|\w\.\w", word) is not None


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, dict[str, int]]]:
    """Return the sums of each kind of task and each reader."""
    kinds = {
        "named": [row for row in rows if row["named"]],
        "described": [row for row in rows if not row["named"]],
    }
    return {
        kind: {
            reader: {
                "tasks": len(of_kind),
                "found": sum(row[reader]["found"] for row in of_kind),
                "one_call": sum(row[reader]["found"] and row[reader]["calls"] == 1 for row in of_kind),
                "calls": sum(row[reader]["calls"] for row in of_kind),
                "characters": sum(row[reader]["characters"] for row in of_kind),
            }
            for reader in ("grep", "codesearch")
        }
        for kind, of_kind in {**kinds, "all": rows}.items()
    }


def table(measured: dict[str, Any]) -> str:
    """Lay the figures out for the page."""
    body = [
        line(
            [
                kind,
                reader,
                f"{of['found']} of {of['tasks']}",
                f"{of['one_call']}",
                f"{of['calls']}",
                f"{of['characters']:,}",
            ]
        )
        for kind, readers in measured["summary"].items()
        for reader, of in readers.items()
    ]
    columns = ["tasks", "reader", "found", "with one call", "calls", "characters"]
    losses = [
        f"{row['query']} ({row['tree'].partition('@')[0]})"
        for row in measured["tasks"]
        if row["grep"]["found"] and not row["codesearch"]["found"]
    ]
    note = f"Only the reader with grep finds: {'; '.join(losses) or 'none'}."
    return "\n".join([line(columns), line(["---", "---", *["--:"] * 4]), *body, "", note])


if __name__ == "__main__":
    main()
