"""A hit -> the lines of it that are shown, cut to the width of the terminal, and their colours."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codesearch.cli.invocation import MAX_LINE, Terminal
from codesearch.engine.answer import Answer
from codesearch.search.snippets import (
    MAX_COLOURED,
    explaining_words,
    head_lines,
    head_text,
    lexer_of,
    marks,
    snippet_lines,
)
from codesearch.structure.text import fold
from codesearch.text.terms import query_terms
from codesearch.types import Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

    from codesearch.structure.whole import Reading

SNIPPET_LINES = 3
_WITH_CONTEXT = 6
_GUTTER = 11
_CUT = "..."


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is shown.

    Attributes:
        number: of the line in the file.
        text: what is shown: without the common indentation, safe to print, and cut.
        position: of the line among all lines of the hit and its context; None if the text is no line of the file.
        indent: characters of the line that are left out at its start.
    """

    number: int
    text: str
    position: int | None = None
    indent: int = 0


def excerpt(
    hit: Hit,
    answer: Answer,
    terminal: Terminal,
    *,
    full: bool = False,
    count: int = SNIPPET_LINES,
    chosen: Sequence[int] | None = None,
) -> list[Line]:
    """Return the lines of a hit to show.

    These are the signature and the lines that matter most for the query. Without code, they are the signature and the
    first lines of the documentation. With context, they are the first lines and those around the hit.
    """
    width = max(terminal.width - _GUTTER, 20) if terminal.is_terminal else MAX_LINE
    if not hit.code:
        known = [line for line in [hit.signature, *hit.docstring.split("\n")[: count - 1]] if line.strip()]
        return [Line(hit.start_line, cut(visible(line), width)) for line in known]
    source = source_lines(hit)
    before, last = len(hit.before), len(hit.before) + len(hit.code.split("\n"))
    is_snippet = not full and not (hit.before or hit.after)
    if chosen is not None:
        is_snippet = False
    elif full:
        chosen = list(range(len(source)))
    elif is_snippet:
        chosen = snippet_lines(hit, answer.query, answer.mode, count)
    else:
        rows = list(range(min(last, before + _WITH_CONTEXT)))
        chosen = rows + list(range(last, len(source)) if len(rows) == last else [])
    indent = min((_indent(source[at]) for at in chosen if source[at].strip()), default=0)
    first = hit.start_line - before
    lines = [Line(first + at, cut(source[at][indent:], width), at, indent) for at in chosen]
    return [_with_head(hit, line, width) for line in lines] if is_snippet else lines


def with_class(hit: Hit, reading: Reading) -> tuple[Hit, list[int]]:
    """Return a hit with the code of a whole class, and the positions of its lines that are not folded away."""
    code, chosen = [""] * (reading.last_line - reading.first_line + 1), []
    last = reading.first_line - 1
    for number, text in [*reading.lines, (reading.last_line + 1, "")]:
        if number > last + 1:
            code[last + 1 - reading.first_line] = fold(last + 1, number - 1)
            chosen.append(last + 1 - reading.first_line)
        if number <= reading.last_line:
            code[number - reading.first_line] = text
            chosen.append(number - reading.first_line)
        last = number
    return replace(hit, code="\n".join(code), before=(), after=()), chosen


def source_lines(hit: Hit) -> list[str]:
    """Return the lines of a hit and of its context, safe to print."""
    lines = [*hit.before, *hit.code.split("\n"), *hit.after]
    return [visible(line.rstrip().expandtabs(4)) for line in lines]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _with_head(hit: Hit, line: Line, width: int) -> Line:
    """Replace the first line of a signature by all of it, if it takes several lines or is too long."""
    head = head_lines(hit)
    is_cut = line.text.endswith(_CUT) and hit.kind in ("function", "method")
    if line.position == head.start and (len(head) > 1 or is_cut):
        return Line(line.number, _cut_middle(visible(head_text(hit)), width))
    return line


def cut(line: str, width: int) -> str:
    """Cut a line at a width; three dots say so."""
    return line if len(line) <= width else f"{line[: width - len(_CUT)]}{_CUT}"


def _cut_middle(line: str, width: int) -> str:
    """Cut a signature so that its end is shown.

    >>> _cut_middle("def load(path: Path, strict: bool = True) -> Config", 40)
    'def load(path: Path, ... -> Config'
    """
    if len(line) <= width:
        return line
    end = line[-width // 3 :]
    end = end.partition(" ")[2] or end
    start = line[: width - len(end) - len(_CUT) - 1]
    parameters = start.rpartition(", ")[0]
    return f"{parameters}, {_CUT} {end}" if len(parameters) > len(start) // 2 else f"{start}{_CUT} {end}"


def coloured(hit: Hit, answer: Answer, lines: Sequence[Line]) -> list[Text]:
    """Return the text of lines with colours; words of the query are bold."""
    from rich.text import Text

    if not hit.code:
        return [Text(line.text, style="dim") for line in lines]
    terms = frozenset(query_terms(explaining_words(answer.query, answer.mode)))
    # A line alone does not say that it is inside a comment or a docstring.
    wanted = {line.position for line in lines if line.position is not None}
    source = "\n".join(source_lines(hit)[: max(wanted, default=-1) + 1])[:MAX_COLOURED]
    whole = _highlighted(hit, source, wanted)
    texts = []
    for line in lines:
        if line.position is None:
            text = _highlighted(hit, line.text, {0}).get(0)
        else:
            text = _part(whole.get(line.position), line)
        text = text or Text(line.text)
        for start, end in marks(line.text, terms):
            text.stylize("bold", start, end)
        texts.append(text)
    return texts


def _highlighted(hit: Hit, code: str, wanted: Collection[int]) -> dict[int, Text]:
    """Return the text of some lines of code by position, with colours; nothing if no lexer knows the language."""
    from rich.syntax import Syntax
    from rich.text import Text

    lexer = lexer_of(code, hit.language)
    if lexer is None:
        return {}
    style_of = Syntax.get_theme("ansi_dark").get_style_for_token
    texts: dict[int, Text] = {}
    position = 0
    for token, text in lexer.get_tokens(code):
        for count, part in enumerate(text.split("\n")):
            position += count > 0
            if position in wanted:
                texts.setdefault(position, Text()).append(part, style_of(token))
    return texts


def _part(whole: Text | None, line: Line) -> Text | None:
    """Return the part of a highlighted line that is shown, or None if it is not there."""
    if whole is None:
        return None
    part = whole[line.indent :]
    if part.plain != line.text and line.text.endswith(_CUT):
        part = part[: len(line.text) - len(_CUT)]
        part.append(_CUT)
    return part if part.plain == line.text else None
