"""Answers -> text for programs, pipes and (see `terminal`) people."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from codesearch.types import Hit

SNIPPET_LINES = 6
MAX_LINE = 200


@dataclass(frozen=True, slots=True)
class Answer:
    """A query and what was found.

    Attributes:
        documents: how many were searched.
        confidence: probability that one of the hits answers the query; None where that is not known.
        is_doubtful: the confidence is so low that the user should know.
    """

    query: str
    mode: str
    model: str
    device: str
    documents: int
    seconds: float
    hits: list[Hit]
    confidence: float | None = None
    is_doubtful: bool = False


def print_json(answer: Answer) -> None:
    """Print the answer as one JSON document."""
    print(json.dumps(asdict(answer), indent=2, ensure_ascii=not _prints_all()))


def print_jsonl(answer: Answer) -> None:
    """Print one JSON object a hit."""
    for hit in answer.hits:
        print(json.dumps(asdict(hit), ensure_ascii=not _prints_all()))


def _prints_all() -> bool:
    """Say whether stdout takes every character; where it does not, JSON has escapes of its own."""
    return (sys.stdout.encoding or "utf-8").lower() in ("utf-8", "utf8")


def print_vimgrep(answer: Answer) -> None:
    """Print `path:line:column:text` a hit, for an editor's quickfix list."""
    for hit in answer.hits:
        print(f"{shown_path(hit)}:{hit.start_line}:1:{hit.signature}")


def print_plain(answer: Answer, *, context: int, explain: bool) -> None:
    """Print hits without colour, for a pipe or a file."""
    for hit in answer.hits:
        print(f"{hit.rank:2}  {hit.score:.3f}  {shown_path(hit)}:{hit.start_line}  {title(hit)}")
        print(f"    {hit.signature}")
        if explain:
            print(f"    {explanation(hit)}")
        for number, line in snippet(hit, context):
            print(f"{number:8} | {line}")
        print()
    print(footer(answer))


def title(hit: Hit) -> str:
    """Name a hit: kind and qualified name, and whether its place may have moved."""
    name = hit.qualified_name or "(anonymous)"
    moved = "  [changed since it was indexed]" if hit.stale else ""
    return f"{hit.kind} {name}{moved}"


def explanation(hit: Hit) -> str:
    """List what each signal gave."""
    return "  ".join(f"{name} {value:.3f}" for name, value in hit.signals.items())


def footer(answer: Answer) -> str:
    """Say how many answers there are, out of what, how fast, and by which model where."""
    found = (
        f"{len(answer.hits)} answer{'s' if len(answer.hits) != 1 else ''}" if answer.hits else "no answers"
    )
    model = f", {answer.model} on {answer.device}" if answer.model else ""
    return f"{found} from {answer.documents:,} documents in {answer.seconds * 1000:.0f} ms{model}"


def shown_path(hit: Hit) -> str:
    """Return a path that an editor opens from here: relative below the working directory, else absolute."""
    path = Path(hit.root, hit.path)
    here = Path.cwd()
    return os.path.relpath(path, here) if path.is_relative_to(here) else str(path)


def snippet(hit: Hit, context: int) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of the code to show, with `context` lines of the file around it."""
    first, lines = hit.start_line, hit.code.split("\n")[:SNIPPET_LINES]
    if context:
        first = max(1, hit.start_line - context)
        lines = _file_lines(hit)[first - 1 : hit.start_line - 1 + len(lines) + context]
    text = "\n".join(line.rstrip()[:MAX_LINE] for line in lines).expandtabs(4)
    yield from enumerate(textwrap.dedent(text).split("\n") if lines else [], start=first)


def _file_lines(hit: Hit) -> list[str]:
    try:
        return Path(hit.root, hit.path).read_text("utf-8", errors="replace").split("\n")
    except OSError:
        return []
