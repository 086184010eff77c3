"""An answer -> text for a terminal: colours, highlighted code, links."""

from __future__ import annotations

import io
from pathlib import Path

from pygments.lexers import get_lexer_by_name
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from codesearch.cli.hits import explanation, footer, shown_path, snippet, title
from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer
from codesearch.types import Hit

_INDENT = 4
_HEIGHT = 25  # Nothing depends on it, but `rich` looks for a real terminal unless both measures are given.


def render_terminal(answer: Answer, terminal: Terminal, *, explain: bool) -> str:
    """Return the hits for a person; paths are links where the terminal takes them."""
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
            console.print(_header(hit, terminal))
            console.print(Padding(Text(hit.signature, style="bold"), (0, 0, 0, _INDENT), expand=False))
            if explain:
                console.print(Padding(Text(explanation(hit), style="dim"), (0, 0, 0, _INDENT), expand=False))
            console.print(_snippet(hit))
            console.print()
        console.print(Text(footer(answer), style="dim"))
    return captured.get()


def _header(hit: Hit, terminal: Terminal) -> Text:
    link = Style(color="cyan", link=Path(hit.root, hit.path).as_uri())
    header = Text(overflow="fold")
    header.append(f"{hit.rank:2}  ", style="bold")
    header.append(f"{hit.score:.3f}  ", style="green")
    header.append(f"{shown_path(hit, terminal)}:{hit.start_line}", style=link)
    header.append(f"  {title(hit)}", style="yellow" if hit.stale else "dim")
    return header


def _snippet(hit: Hit) -> RenderableType:
    lines = list(snippet(hit))
    if not lines:
        return Text("    (the file is gone)", style="yellow")
    syntax = Syntax(
        "\n".join(line for _, line in lines),
        get_lexer_by_name(hit.language, startinline=True),  # PHP here has no opening tag.
        theme="ansi_dark",
        line_numbers=True,
        start_line=lines[0][0],
        background_color="default",
    )
    return Padding(syntax, (0, 0, 0, _INDENT), expand=False)
