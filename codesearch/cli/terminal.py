"""An answer -> text for a terminal: colours, highlighted code, links."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from pygments.lexers import get_lexer_by_name
from rich.console import Console
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from codesearch.cli.hits import View, details, explanation, footer, shown_path, snippet
from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer
from codesearch.types import Hit
from codesearch.visible import visible

_HEIGHT = 25  # Nothing depends on it, but `rich` looks for a real terminal unless both measures are given.


def render_terminal(answer: Answer, terminal: Terminal, view: View) -> str:
    """Return the hits for a person; paths are links if the terminal supports them."""
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=terminal.width,
        height=_HEIGHT,
        highlight=False,
        legacy_windows=False,
        _environ=terminal.variables,
    )
    with console.capture() as captured:
        for hit in answer.hits:
            console.print(_heading(hit, terminal))
            for row in explanation(hit) if view.explain else ():
                console.print(Text(row, style="dim"))
            for line in _snippet(hit, snippet(hit, answer, terminal, full=view.full)):
                console.print(line, no_wrap=True, overflow="ellipsis")
            console.print()
        console.print(Text(footer(answer), style="dim"))
    return captured.get()


def _heading(hit: Hit, terminal: Terminal) -> Text:
    heading = Text(overflow="fold")
    path = Path(hit.root, hit.path)
    link = Style(color="cyan", link=path.as_uri() if path.is_absolute() else None)
    heading.append(f"{shown_path(hit, terminal)}:{hit.start_line}", style=link)
    heading.append(f"  {visible(hit.qualified_name)}", style="bold")
    heading.append(f"  {details(hit)}", style="yellow" if hit.stale else "dim")
    return heading


def _snippet(hit: Hit, lines: Sequence[tuple[int, str]]) -> list[Text]:
    if not hit.code:
        return [Text(f"    {line}", style="dim") for _, line in lines]
    lexer = get_lexer_by_name(hit.language, startinline=True)  # The PHP code of a hit has no opening tag.
    syntax = Syntax("", lexer, theme="ansi_dark", background_color="default")
    code = syntax.highlight("\n".join(line for _, line in lines)).split("\n", allow_blank=True)
    return [
        Text.assemble((f"{number:8} │ ", "dim"), text) for (number, _), text in zip(lines, code, strict=False)
    ]
