"""Answers -> a terminal: colour, highlighted code, links."""

from __future__ import annotations

from pathlib import Path

from pygments.lexers import get_lexer_by_name
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text

from codesearch.cli.render import Answer, explanation, footer, shown_path, snippet, title
from codesearch.types import Hit

_INDENT = 4


def print_terminal(answer: Answer, *, context: int, explain: bool) -> None:
    """Print hits for a person; paths are links where the terminal takes them."""
    console = Console(highlight=False)
    for hit in answer.hits:
        console.print(_header(hit))
        console.print(Padding(Text(hit.signature, style="bold"), (0, 0, 0, _INDENT), expand=False))
        if explain:
            console.print(Padding(Text(explanation(hit), style="dim"), (0, 0, 0, _INDENT), expand=False))
        console.print(_snippet(hit, context))
        console.print()
    console.print(Text(footer(answer), style="dim"))


def _header(hit: Hit) -> Text:
    link = Style(color="cyan", link=Path(hit.root, hit.path).as_uri())
    header = Text(overflow="fold")
    header.append(f"{hit.rank:2}  ", style="bold")
    header.append(f"{hit.score:.3f}  ", style="green")
    header.append(f"{shown_path(hit)}:{hit.start_line}", style=link)
    header.append(f"  {title(hit)}", style="yellow" if hit.stale else "dim")
    return header


def _snippet(hit: Hit, context: int) -> RenderableType:
    lines = list(snippet(hit, context))
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
