"""A hit -> the lines of it that are shown, cut to the width of the terminal, and their colours."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
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
from codesearch.visible import visible, visible_lines

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


def choose(hit: Hit, answer: Answer, *, full: bool = False) -> list[int]:
    """Return the positions of the lines of a hit to show, among those of its code and context, the best ones first.

    These are the signature and the lines that matter most for the query. Without code, they are the signature and the
    first lines of the documentation. With context, they are the first lines and those around the hit.
    """
    if not hit.code:
        return [at for at, line in enumerate(_described(hit)) if line.strip()]
    if not (full or hit.before or hit.after):
        return snippet_lines(hit, answer.query, answer.mode, SNIPPET_LINES)
    last = len(hit.before) + hit.code.count("\n") + 1
    rows = list(range(last if full else min(last, len(hit.before) + _WITH_CONTEXT)))
    return rows + list(range(last, last + len(hit.after)) if len(rows) == last else [])


def excerpt(hit: Hit, chosen: Sequence[int], terminal: Terminal, *, is_snippet: bool) -> list[Line]:
    """Return the chosen lines of a hit in their order; in a snippet, a signature over several lines is one line."""
    width = max(terminal.width - _GUTTER, 20) if terminal.is_terminal else MAX_LINE
    if not hit.code:
        known = visible_lines(_described(hit))
        return [Line(hit.start_line, cut(known[at], width)) for at in chosen]
    source, chosen = [*hit.before, *hit.code.split("\n"), *hit.after], sorted(chosen)
    texts = _safe(source[at] for at in chosen)
    indent = min((len(text) - len(text.lstrip()) for text in texts if text.strip()), default=0)
    first = hit.start_line - len(hit.before)
    lines = [
        Line(first + at, cut(text[indent:], width), at, indent)
        for at, text in zip(chosen, texts, strict=True)
    ]
    if not is_snippet:
        return lines
    head = head_lines(hit)
    return [_with_head(hit, line, width, head) if line.position == head.start else line for line in lines]


def _described(hit: Hit) -> list[str]:
    return [hit.signature, *hit.docstring.split("\n")[: SNIPPET_LINES - 1]]


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


def _safe(lines: Iterable[str]) -> list[str]:
    return visible_lines(line.rstrip().expandtabs(4) for line in lines)


def _with_head(hit: Hit, line: Line, width: int, head: range) -> Line:
    """Return all of a signature in place of its first line, if it takes several lines or is too long."""
    is_cut = line.text.endswith(_CUT) and hit.kind in ("function", "method")
    if len(head) > 1 or is_cut:
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
    above = [*hit.before, *hit.code.split("\n"), *hit.after][: max(wanted, default=-1) + 1]
    source = "\n".join(_safe(above))[:MAX_COLOURED]
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
