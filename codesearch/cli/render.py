"""An answer -> text. It depends only on facts about the terminal. `terminal` has the form for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from codesearch.cli.hits import View, details, explanation, footer, shown_path, snippet
from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer, answer_fields, hit_fields
from codesearch.types import Hit
from codesearch.visible import visible, visible_json

FORMATS = ("text", "compact", "files", "json", "jsonl", "vimgrep")
_USUAL = View()


def render(answer: Answer, form: str, terminal: Terminal, view: View = _USUAL) -> str:
    """Return an answer in one of `FORMATS`; "text" has colours if stdout is a terminal.

    Args:
        answer: what was found.
        form: one of `FORMATS`.
        terminal: the terminal that shows it.
        view: what "text" shows.
    """
    if form == "json":
        return _json(answer_fields(answer), terminal, indent=2) + "\n"
    if form == "text" and view.is_coloured(terminal):
        from codesearch.cli.terminal import render_terminal

        return render_terminal(answer, terminal, view)
    return "".join(f"{line}\n" for line in _lines(answer, form, terminal, view))


def heading(hit: Hit, terminal: Terminal) -> str:
    """Return the one line that names a hit."""
    return f"{shown_path(hit, terminal)}:{hit.start_line}  {visible(hit.qualified_name)}  {details(hit)}"


def _lines(answer: Answer, form: str, terminal: Terminal, view: View) -> Iterator[str]:
    if form == "jsonl":
        return (_json(hit_fields(hit), terminal) for hit in answer.hits)
    if form == "vimgrep":
        return (
            f"{shown_path(hit, terminal)}:{hit.start_line}:1:{visible(hit.signature)}" for hit in answer.hits
        )
    if form == "files":
        return iter(dict.fromkeys(shown_path(hit, terminal) for hit in answer.hits))
    if form == "compact":
        return (heading(hit, terminal) for hit in answer.hits)
    return _plain(answer, terminal, view)


def _plain(answer: Answer, terminal: Terminal, view: View) -> Iterator[str]:
    for hit in answer.hits:
        yield heading(hit, terminal)
        yield from explanation(hit) if view.explain else ()
        yield from (
            f"{number:8} | {line}".rstrip() for number, line in snippet(hit, answer, terminal, full=view.full)
        )
        yield ""
    yield footer(answer)


def _json(fields: dict[str, Any], terminal: Terminal, indent: int | None = None) -> str:
    """Write JSON with escapes for what is not safe to print or what stdout cannot encode."""
    is_limited = terminal.encoding.lower() not in ("utf-8", "utf8")
    return visible_json(json.dumps(fields, indent=indent, ensure_ascii=is_limited))
