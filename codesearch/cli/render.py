"""An answer -> text, by facts about the terminal alone. `terminal` has the form for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from codesearch.cli.hits import explanation, footer, shown_path, snippet, title
from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer

FORMATS = ("text", "json", "jsonl", "vimgrep")


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
