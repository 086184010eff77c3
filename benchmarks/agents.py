"""Characters that an agent reads until it has the right definition -> `results/agents.json`.

`python -m benchmarks.agents` asks the questions of the suite `known-items` about the running interpreter's library.

- With the tools: `search` with its defaults, again with `flat` and more hits if the answer is not among them, then
  `read`.
- With grep: for each word of the question, without stop words, `grep -rin WORD`; an agent sees the first lines of what
  it prints. Then it reads the lines around the matches, at the places with the most different words first, until it has
  read the definition. It gives up after 20 places.

Both read only Python files of the library.

`python -m benchmarks.agents --tasks DIR` runs the tasks of `agent_tasks.toml` on the projects in DIR, and compares what
the tools answer with the first lines that ripgrep prints -> `agent_tasks.json`. It needs `rg` and the extra `mcp`.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sysconfig
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.publish import DEV_DOCS, fill, line, record
from codesearch.agents.text import fitting_definitions, hits_text, readings_text
from codesearch.config import IndexOptions
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.evaluation.suites import read_questions
from codesearch.parsing.identifiers import words
from codesearch.text.terms import STOP_WORDS
from codesearch.types import Hit

PAGE = DEV_DOCS / "bench-commands.md"
_HITS, _MORE_HITS, _TOKENS, _READ_TOKENS = 8, 30, 250, 2_000
_SHOWN_MATCHES = 50
"""Lines of matches of a word that the agent with grep sees."""
_MAX_PLACES, _AROUND = 20, 30
_SMALL = 3_000


_LISTED, _COLUMNS = 250, 500
"""Lines of ripgrep's output that an agent sees, and their longest."""


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=Path, metavar="DIR", help="run the tasks of agent_tasks.toml")
    if folder := parser.parse_args().tasks:
        rows = asyncio.run(run_tasks(folder.resolve()))
        record("agent_tasks", {"tasks": rows}, flat=True)
    else:
        measure_questions()


async def run_tasks(folder: Path) -> list[dict[str, Any]]:
    """Return the calls and characters of each task, and whether its place was in the answers."""
    from mcp import Client

    from codesearch.agents.server import make_server

    given = tomllib.loads(Path(__file__).with_name("agent_tasks.toml").read_text("utf-8"))
    rows = []
    with tempfile.TemporaryDirectory() as home:
        engine = Engine(home)
        for task in given["tasks"]:
            root = folder / task["project"]
            async with Client(make_server(engine, root, root)) as client:
                calls = [await client.call_tool(*call) for one in task["calls"] for call in one.items()]
            text = "".join(call.content[0].text for call in calls)
            command = ["rg", "-n", "--sort=path", f"-M{_COLUMNS}", "--max-columns-preview", *task["rg"], "."]
            listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
            rows.append(
                {
                    "task": task["name"],
                    "found": task["place"] in text,
                    "calls": len(calls),
                    "characters": len(text),
                    "ripgrep": len("".join(listed.splitlines(keepends=True)[:_LISTED])),
                }
            )
        engine.close()
    return rows


def measure_questions() -> None:
    """Measure what the questions of the suite cost."""
    root = Path(sysconfig.get_path("stdlib")).resolve()
    queries, answers = read_questions("python")
    files = {
        path.relative_to(root).as_posix(): path.read_text("utf-8", "replace").splitlines()
        for path in sorted(root.rglob("*.py"))
        if "site-packages" not in path.parts
    }
    rows: dict[str, list[Cost | None]] = {"tools": [], "grep": []}
    with tempfile.TemporaryDirectory() as home:
        engine = Engine(home)
        engine.index(root, IndexOptions(exclude=("site-packages",)))
        for query, text in queries.items():
            rows["tools"].append(with_tools(engine, root, text, answers[query]))
            rows["grep"].append(with_grep(files, text, answers[query]))
        engine.close()
    measured = {name: summary(found) for name, found in rows.items()}
    both = [(a.characters, b.characters) for a, b in zip(rows["tools"], rows["grep"], strict=True) if a and b]
    measured["ratio"] = {"questions": len(both), "median": round(median(b / a for a, b in both), 1)}
    record("agents", measured, flat=True)
    fill(PAGE, "read", table(measured))


class Cost(NamedTuple):
    """What an agent read, and how many calls it made."""

    characters: int
    calls: int


def with_tools(engine: Engine, root: Path, text: str, right: set[str]) -> Cost | None:
    """Return the cost for an agent with the tools; None if it does not find the definition."""
    read = 0
    scope = Scope((root,))
    for calls, count in enumerate((_HITS, _MORE_HITS), 1):
        is_first = count == _HITS
        screen = fitting_definitions(_TOKENS) if is_first else 0
        answer = engine.search(text, scope, top_k=count, refresh=False, by_file=is_first, screen=screen)
        shown = hits_text(answer, root, _TOKENS if is_first else 2 * _TOKENS)
        read += len(shown)
        listed = (hit for hit in answer.screen if _is_right(hit, right) and _is_shown(hit, shown))
        if found := next(listed, None):
            code = engine.session(scope).read(f"{found.path}:{found.start_line}")
            return Cost(read + len(readings_text(code, root, _READ_TOKENS)), calls + 1)
    return None


def with_grep(files: Mapping[str, list[str]], text: str, right: set[str]) -> Cost | None:
    """Return the cost for an agent with grep; None if it gives up."""
    wanted = sorted({word.lower() for word in words(text)} - STOP_WORDS)
    near: dict[tuple[str, int], set[str]] = {}
    read = 0
    for word in wanted:
        matches = [
            (path, number, line)
            for path, lines in files.items()
            for number, line in enumerate(lines)
            if word in line.lower()
        ]
        read += sum(len(f"{path}:{number}:{line}\n") for path, number, line in matches[:_SHOWN_MATCHES])
        for path, number, _ in matches:
            near.setdefault((path, number // _AROUND), set()).add(word)
    order = sorted(near, key=lambda place: (-len(near[place]), place))
    for calls, (path, window) in enumerate(order[:_MAX_PLACES], len(wanted) + 1):
        lines = files[path][max(window - 1, 0) * _AROUND : (window + 2) * _AROUND]
        read += sum(len(line) + 1 for line in lines)
        names = {name for place in right for where, _, name in [place.partition(":")] if where == path}
        if any(_defines(line, names) for line in lines):
            return Cost(read, calls)
    return None


def _defines(line: str, names: set[str]) -> bool:
    """Say whether a line begins a definition with one of the names."""
    found = re.match(r"\s*(?:async )?(?:def|class) (\w+)", line)
    return found is not None and found[1] in names


def _is_right(hit: Hit, right: set[str]) -> bool:
    return f"{hit.path}:{hit.name}" in right


def _is_shown(hit: Hit, text: str) -> bool:
    lines = f"{hit.start_line}-{hit.last_line} "
    return (
        f"{hit.path}:{lines}" in text
        or re.search(rf"^  {lines}.*\b{re.escape(hit.name)}\b", text, re.M) is not None
    )


def summary(found: list[Cost | None]) -> dict[str, Any]:
    """Return how many questions were answered, and what that cost."""
    costs = [cost for cost in found if cost]
    sizes = [cost.characters for cost in costs]
    return {
        "questions": len(found),
        "found": len(costs),
        "within_3000": sum(size <= _SMALL for size in sizes),
        "median_characters": round(median(sizes)),
        "mean_characters": round(sum(sizes) / len(sizes)),
        "mean_calls": round(sum(cost.calls for cost in costs) / len(costs), 1),
    }


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Lay the figures out for the page."""
    columns = [
        "",
        "found",
        "with at most 3,000 characters",
        "median characters",
        "mean characters",
        "mean calls",
    ]
    head = [line(columns), line(["---", *["--:"] * 5])]
    names = {"grep": "`grep` and reading around matches", "tools": "`search` and `read`"}
    body = [
        line(
            [
                names[key],
                f"{measured[key]['found']} of {measured[key]['questions']}",
                f"{measured[key]['within_3000']}",
                f"{measured[key]['median_characters']:,}",
                f"{measured[key]['mean_characters']:,}",
                f"{measured[key]['mean_calls']}",
            ]
        )
        for key in ("grep", "tools")
    ]
    ratio = measured["ratio"]
    both, times = ratio["questions"], ratio["median"]
    note = f"On the {both} questions that both answer, grep reads {times} times as much in the median."
    return "\n".join([*head, *body, "", note])


if __name__ == "__main__":
    main()
