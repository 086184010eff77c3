"""An answer -> text, in every form that `query` and `similar` print. It depends only on facts about the terminal."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codesearch.cli.invocation import Terminal
from codesearch.cli.numbers import counted
from codesearch.engine.answer import Answer, answer_fields, hit_fields
from codesearch.search.snippets import snippet_lines
from codesearch.types import Hit
from codesearch.visible import visible, visible_json

if TYPE_CHECKING:
    from rich.text import Text

MAX_LINE = 200
"""Characters of a line that are shown if stdout is no terminal."""
_WITHOUT_CODES = ("dumb", "unknown")
"""Values of TERM for terminals that understand no colours and links."""
_SNIPPET_LINES = 3
_WITH_CONTEXT = 6
_GUTTER = 8
_NAMES = {
    "name_first": "what the query names ranks first",
    "file_diversity": "hits of the same file above",
    "file_support": "other definitions of the file",
    "file_name": "words of the file's name",
    "direction": "direction of the conversion",
    "single_word": "name begins with the word",
}


def render(
    answer: Answer,
    output_format: str,
    terminal: Terminal,
    *,
    full: bool = False,
    explain: bool = False,
    color: str = "auto",
) -> str:
    """Return an answer as text, compact, files, json, jsonl or vimgrep.

    Args:
        answer: what was found.
        output_format: one of these; "text" has colours if stdout is a terminal.
        terminal: the terminal that shows it.
        full: "text" shows whole bodies instead of a few lines.
        explain: "text" shows what each part added to the score.
        color: "auto" for colours on a terminal, "always" or "never".
    """
    if output_format == "json":
        return _json(answer_fields(answer), terminal, indent=2) + "\n"
    if output_format == "text" and (terminal.is_coloured if color == "auto" else color == "always"):
        return _coloured(answer, terminal, full=full, explain=explain)
    lines: Iterable[str]
    if output_format == "jsonl":
        lines = (_json(hit_fields(hit), terminal) for hit in answer.hits)
    elif output_format == "vimgrep":
        lines = (
            f"{shown_path(hit, terminal)}:{hit.start_line}:1:{visible(hit.signature)}" for hit in answer.hits
        )
    elif output_format == "files":
        lines = dict.fromkeys(shown_path(hit, terminal) for hit in answer.hits)
    elif output_format == "compact":
        lines = (_heading(hit, terminal) for hit in answer.hits)
    else:
        lines = _plain(answer, terminal, full=full, explain=explain)
    return "".join(f"{line}\n" for line in lines)


def _heading(hit: Hit, terminal: Terminal) -> str:
    return f"{shown_path(hit, terminal)}:{hit.start_line}  {visible(hit.qualified_name)}  {details(hit)}"


def _plain(answer: Answer, terminal: Terminal, *, full: bool, explain: bool) -> Iterator[str]:
    for hit in answer.hits:
        yield _heading(hit, terminal)
        yield from explanation(hit) if explain else ()
        yield from (
            f"{number:8} | {line}".rstrip() for number, line in snippet(hit, answer, terminal, full=full)
        )
        yield from map(_other, hit.others)
        yield ""
    yield footer(answer)


def _other(hit: Hit) -> str:
    """Return a line for another definition of a file, below the best one."""
    return f"{hit.start_line:8}   {visible(hit.qualified_name)}  {details(hit)}"


def _json(fields: dict[str, Any], terminal: Terminal, indent: int | None = None) -> str:
    """Write JSON with escapes for what is not safe to print or what stdout cannot encode."""
    is_limited = terminal.encoding.lower() not in ("utf-8", "utf8")
    return visible_json(json.dumps(fields, indent=indent, ensure_ascii=is_limited))


def details(hit: Hit) -> str:
    """Describe a hit: its kind, its length, how many copies it has, and whether its lines may have moved."""
    lines = hit.last_line - hit.start_line + 1
    length = f", {counted(lines, 'line')}" if lines > 1 else ""
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    moved = "  [changed since it was indexed]" if hit.stale else ""
    return f"{hit.kind}{length}{copies}{moved}"


def explanation(hit: Hit) -> Iterator[str]:
    """Yield a row for each part of the score, and the sum."""
    detail = {
        "vectors": f"cosine {hit.signals.get('cosine', 0):.3f} x length prior {hit.signals.get('length_prior', 0):.3f}",
        "keywords": f"BM25F {hit.signals.get('bm25_normalised', 0):.3f} of the highest possible",
    }
    for name, value in hit.parts.items():
        if value:
            yield f"{value:+8.3f}  {_NAMES.get(name, name)}" + (f": {detail[name]}" if name in detail else "")
    yield f"{hit.score:+8.3f}  score"


def footer(answer: Answer) -> str:
    """Give the number of hits and of documents, the time and the confidence."""
    found = counted(len(answer.hits), "hit") if answer.hits else "no hits"
    sure = (
        f", confidence {percent(answer.confidence)}" if answer.hits and answer.confidence is not None else ""
    )
    return f"{found} from {counted(answer.documents, 'document')} in {answer.seconds * 1000:.0f} ms{sure}"


def percent(confidence: float) -> str:
    """Write a probability; write 0% and 100% only if they are exact.

    >>> percent(0.834), percent(0.999), percent(1.0), percent(0.001)
    ('83%', '99%', '100%', '1%')
    """
    rounded = round(100 * confidence)
    return f"{min(max(rounded, 1), 99) if 0 < confidence < 1 else rounded}%"


def shown_path(hit: Hit, terminal: Terminal) -> str:
    """Return a path that an editor opens from here: relative below the working directory, else absolute."""
    path = Path(hit.root, hit.path)
    shown = os.path.relpath(path, terminal.here) if path.is_relative_to(terminal.here) else str(path)
    return visible(shown)


def snippet(hit: Hit, answer: Answer, terminal: Terminal, *, full: bool) -> list[tuple[int, str]]:
    """Return (line number, line) of each line of a hit to show; a line that is cut ends with three dots.

    These are the lines that matter most for the query. Without code, they are the signature and the first lines of the
    documentation. With context, they are the first lines and those around the hit.
    """
    width = max(terminal.width - _GUTTER - 3, 20) if terminal.is_terminal else MAX_LINE
    if not hit.code:
        known = [hit.signature, *hit.docstring.split("\n")[: _SNIPPET_LINES - 1]]
        return [(hit.start_line, _cut(visible(line), width)) for line in known if line.strip()]
    code = hit.code.split("\n")
    context = max(len(hit.before), len(hit.after))
    if full:
        chosen = list(range(len(code)))
    elif context:
        chosen = list(range(min(len(code), _WITH_CONTEXT)))
    else:
        chosen = snippet_lines(hit, answer.query, answer.mode, _SNIPPET_LINES)
    after = hit.after if len(chosen) == len(code) else ()
    lines = [*hit.before, *(code[position] for position in chosen), *after]
    numbers = [
        *range(hit.start_line - len(hit.before), hit.start_line),
        *(hit.start_line + position for position in chosen),
        *range(hit.start_line + len(code), hit.start_line + len(code) + len(after)),
    ]
    text = textwrap.dedent("\n".join(line.rstrip() for line in lines).expandtabs(4))
    return [
        (number, _cut(visible(line), width)) for number, line in zip(numbers, text.split("\n"), strict=False)
    ]


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 3]}..."


def _coloured(answer: Answer, terminal: Terminal, *, full: bool, explain: bool) -> str:
    """Return the text with colours, highlighted code, and paths that are links."""
    import io

    from rich.console import Console
    from rich.style import Style
    from rich.text import Text

    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        width=terminal.width,
        height=25,  # Nothing depends on it, but `rich` looks for a real terminal unless both measures are given.
        highlight=False,
        legacy_windows=False,
        # Only the 16 standard colours are used, so what else a terminal can does not matter.
        color_system=None if terminal.variables.get("TERM", "").lower() in _WITHOUT_CODES else "standard",
        no_color=bool(terminal.variables.get("NO_COLOR")),
        force_jupyter=False,
    )
    with console.capture() as captured:
        for hit in answer.hits:
            path, heading = Path(hit.root, hit.path), Text(overflow="fold")
            link = Style(color="cyan", link=path.as_uri() if path.is_absolute() else None)
            heading.append(f"{shown_path(hit, terminal)}:{hit.start_line}", style=link)
            heading.append(f"  {visible(hit.qualified_name)}", style="bold")
            heading.append(f"  {details(hit)}", style="yellow" if hit.stale else "dim")
            console.print(heading)
            for row in explanation(hit) if explain else ():
                console.print(Text(row, style="dim"))
            for line in _coloured_code(hit, snippet(hit, answer, terminal, full=full)):
                console.print(line, no_wrap=True, overflow="ellipsis")
            for other in hit.others:
                console.print(Text(_other(other), style="dim"), no_wrap=True, overflow="ellipsis")
            console.print()
        console.print(Text(footer(answer), style="dim"))
    return captured.get()


def _coloured_code(hit: Hit, lines: Sequence[tuple[int, str]]) -> list[Text]:
    from pygments.lexers import get_lexer_by_name
    from rich.syntax import Syntax
    from rich.text import Text

    if not hit.code:
        return [Text(f"    {line}", style="dim") for _, line in lines]
    lexer = get_lexer_by_name(hit.language, startinline=True)  # The PHP code of a hit has no opening tag.
    syntax = Syntax("", lexer, theme="ansi_dark", background_color="default")
    code = syntax.highlight("\n".join(line for _, line in lines)).split("\n", allow_blank=True)
    return [
        Text.assemble((f"{number:8} │ ", "dim"), text) for (number, _), text in zip(lines, code, strict=False)
    ]
