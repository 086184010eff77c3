"""An answer -> text, by facts about the terminal alone. `terminal` has the form for people."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from codesearch.cli.invocation import Terminal
from codesearch.engine.reports import Answer
from codesearch.types import Hit

FORMATS = ("text", "json", "jsonl", "vimgrep")
SNIPPET_LINES = 6
MAX_LINE = 200


def render(answer: Answer, form: str, terminal: Terminal, *, explain: bool = False) -> str:
    """Return an answer in one of `FORMATS`; "text" has colours where stdout is a terminal.

    Args:
        answer: what was found.
        form: of `FORMATS`.
        terminal: where it is shown.
        explain: show what each signal gave.
    """
    if form == "json":
        return json.dumps(asdict(answer), indent=2, ensure_ascii=_is_limited(terminal)) + "\n"
    lines: Iterator[str]
    if form == "jsonl":
        lines = (json.dumps(asdict(hit), ensure_ascii=_is_limited(terminal)) for hit in answer.hits)
    elif form == "vimgrep":
        lines = (f"{shown_path(hit, terminal)}:{hit.start_line}:1:{hit.signature}" for hit in answer.hits)
    elif terminal.is_terminal:
        from codesearch.cli.terminal import render_terminal

        return render_terminal(answer, terminal, explain=explain)
    else:
        lines = _plain_lines(answer, terminal, explain=explain)
    return "".join(f"{line}\n" for line in lines)


def _is_limited(terminal: Terminal) -> bool:
    """Say whether stdout cannot encode every character; JSON then uses escapes."""
    return terminal.encoding.lower() not in ("utf-8", "utf8")


def _plain_lines(answer: Answer, terminal: Terminal, *, explain: bool) -> Iterator[str]:
    for hit in answer.hits:
        yield f"{hit.rank:2}  {hit.score:.3f}  {shown_path(hit, terminal)}:{hit.start_line}  {title(hit)}"
        yield f"    {hit.signature}"
        if explain:
            yield f"    {explanation(hit)}"
        yield from (f"{number:8} | {line}" for number, line in snippet(hit))
        yield ""
    yield footer(answer)


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


def shown_path(hit: Hit, terminal: Terminal) -> str:
    """Return a path that an editor opens from here: relative below the working directory, else absolute."""
    path = Path(hit.root, hit.path)
    return os.path.relpath(path, terminal.here) if path.is_relative_to(terminal.here) else str(path)


def snippet(hit: Hit) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) of the first lines of a hit, and as many around them as it has context."""
    context = max(len(hit.before), len(hit.after))
    code = hit.code.split("\n") if hit.code else []
    lines = [*hit.before, *[*code, *hit.after][: SNIPPET_LINES + context]]
    text = "\n".join(line.rstrip()[:MAX_LINE] for line in lines).expandtabs(4)
    first = hit.start_line - len(hit.before)
    yield from enumerate(textwrap.dedent(text).split("\n") if lines else [], start=first)
