"""Bytes that an agent reads until it has the right definition -> `results/agents.json`, a table of docs/agents.md.

`python -m benchmarks.agents` asks the questions of the suite `known-items` about the running interpreter's library.

- With the tools: `search_code` with its defaults, again with `flat` and more hits if the answer is not among them,
  then `read_definition`.
- With grep: for each word of the question, without stop words, `grep -ril WORD`. Then the agent reads the files, those
  with the most different words first, the smaller ones first among equals, until it has read the definition. It reads
  at most 2,000 lines of a file at a time, and gives up after 20 files.

Both read only Python files of the library. Only the bytes they read are counted.
"""

from __future__ import annotations

import argparse
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.publish import DOCS, fill, line, record
from codesearch.agents.text import definition_text, hits_text
from codesearch.analysis.terms import STOP_WORDS
from codesearch.config import IndexOptions
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.evaluation.suites.known_items import read_questions
from codesearch.parsing.identifiers import words
from codesearch.search.request import SearchRequest
from codesearch.types import Hit

PAGE = DOCS / "agents.md"
_HITS, _MORE_HITS, _LINES = 8, 30, 3
_MAX_FILES, _WINDOW = 20, 2_000


def main() -> None:
    """Measure and record."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    root = Path(sysconfig.get_path("stdlib")).resolve()
    queries, answers = read_questions("python")
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*.py"))
        if "site-packages" not in path.parts
    }
    rows: dict[str, list[int | None]] = {"search_code": [], "grep": []}
    with tempfile.TemporaryDirectory() as home:
        engine = Engine(home)
        engine.index(root, IndexOptions(exclude=("site-packages",)))
        for query, text in queries.items():
            rows["search_code"].append(with_tools(engine, root, text, answers[query]))
            rows["grep"].append(with_grep(engine, root, files, text, answers[query]))
        engine.close()
    measured = {name: summary(found) for name, found in rows.items()}
    both = [(a, b) for a, b in zip(rows["search_code"], rows["grep"], strict=True) if a and b]
    measured["ratio"] = {"questions": len(both), "median": round(median(b / a for a, b in both), 1)}
    record("agents", measured, flat=True)
    fill(PAGE, "bytes", table(measured))


def with_tools(engine: Engine, root: Path, text: str, right: set[str]) -> int | None:
    """Return the bytes that an agent with the tools reads; None if it does not find the definition."""
    read = 0
    for count in (_HITS, _MORE_HITS):
        answer = engine.search(SearchRequest(text, count, refresh=False, by_file=count == _HITS), Scope())
        read += len(hits_text(answer, root, _LINES).encode())
        listed = (one for hit in answer.hits for one in (hit, *hit.others))
        found = next((hit for hit in listed if _is_right(hit, right)), None)
        if found:
            definition = engine.document(found.root, found.path, found.start_line)
            return read + len(definition_text(definition, root).encode())
    return None


def with_grep(
    engine: Engine, root: Path, files: Mapping[str, bytes], text: str, right: set[str]
) -> int | None:
    """Return the bytes that an agent with grep reads; None if it gives up."""
    wanted = {word.lower() for word in words(text)} - STOP_WORDS
    matched: Counter[str] = Counter()
    read = 0
    for word in wanted:
        listed = [path for path, content in files.items() if word.encode() in content.lower()]
        matched.update(listed)
        read += sum(len(path) + 1 for path in listed)
    order = sorted(matched, key=lambda path: (-matched[path], len(files[path])))
    for path in order[:_MAX_FILES]:
        names = {name for place in right for where, _, name in [place.partition(":")] if where == path}
        lines = files[path].split(b"\n")
        last = _line_of(lines, names) if names else len(lines)
        windows = -(-(last or len(lines)) // _WINDOW)
        read += sum(len(each) + 1 for each in lines[: windows * _WINDOW])
        if names and last:
            return read
    return None


def _line_of(lines: list[bytes], names: set[str]) -> int:
    """Return the 1-based line of the first definition with one of the names; 0 if there is none."""
    heads = tuple(f"{kind} {name}".encode() for name in names for kind in ("def", "class"))
    starts = (number for number, each in enumerate(lines, 1) if each.lstrip().startswith(heads))
    return next(starts, 0)


def _is_right(hit: Hit, right: set[str]) -> bool:
    return f"{hit.path}:{hit.name}" in right


def summary(found: list[int | None]) -> dict[str, Any]:
    """Return how many questions were answered, and the bytes of those."""
    sizes = [size for size in found if size]
    return {
        "questions": len(found),
        "found": len(sizes),
        "median_bytes": round(median(sizes)),
        "mean_bytes": round(sum(sizes) / len(sizes)),
    }


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Lay the figures out for the page."""
    head = [line(["", "found", "median bytes", "mean bytes"]), line(["---", "--:", "--:", "--:"])]
    names = {"grep": "`grep` and files", "search_code": "`search_code` and `read_definition`"}
    body = [
        line(
            [
                names[key],
                f"{measured[key]['found']} of {measured[key]['questions']}",
                f"{measured[key]['median_bytes']:,}",
                f"{measured[key]['mean_bytes']:,}",
            ]
        )
        for key in ("grep", "search_code")
    ]
    ratio = measured["ratio"]
    both, times = ratio["questions"], ratio["median"]
    note = f"On the {both} questions that both answer, grep reads {times} times as much in the median."
    return "\n".join([*head, *body, "", note])


if __name__ == "__main__":
    main()
