"""An answer -> text, in every form that `query` and `similar` print. It depends only on facts about the terminal."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from codesearch.cli.invocation import MAX_LINE, Terminal
from codesearch.cli.notes import counted
from codesearch.engine.answer import Answer, answer_fields, hit_fields
from codesearch.search.snippets import (
    MAX_COLOURED,
    explaining_words,
    head_lines,
    head_text,
    lexer_of,
    marks,
    snippet_lines,
)
from codesearch.structure.text import fold, reading_lines
from codesearch.text.terms import query_terms
from codesearch.types import Hit
from codesearch.visible import visible, visible_lines

if TYPE_CHECKING:
    from rich.text import Text

    from codesearch.duplicates.records import Function
    from codesearch.structure.whole import Reading

_WITHOUT_CODES = ("dumb", "unknown")
"""Values of TERM for terminals that understand no colours and links."""
_OWN = 2
"""Rows for the command line above the output and the prompt below it."""
SNIPPET_LINES = 3
_WITH_CONTEXT = 6
_GUTTER = 11
_CUT = "..."
_NAMES = {
    "name_first": "what the query names ranks first",
    "file_diversity": "hits of the same file above",
    "file_support": "other definitions of the file",
    "file_name": "words of the file's name",
    "direction": "direction of the conversion",
    "single_word": "name begins with the word",
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is shown."""

    number: int  # In the file.
    text: str  # Without the common indentation, safe to print, and cut.
    position: int | None = None  # In the hit with its context; None if the text is no line of the file.
    indent: int = 0  # Characters that are left out at the start.


@dataclass(frozen=True, slots=True)
class _Block:
    """What the text shows of a hit: place, name and details in the heading, then rows, lines and other definitions."""

    hit: Hit
    heading: tuple[str, str, str]
    rows: Sequence[str]
    lines: Sequence[Line]
    others: Sequence[Hit]


def render(
    answer: Answer,
    output_format: str,
    terminal: Terminal,
    *,
    full: bool = False,
    explain: bool = False,
    color: str = "auto",
    classes: Mapping[int, Reading] = MappingProxyType({}),
) -> str:
    """Return an answer as text, compact, files, json, jsonl or vimgrep."""
    if output_format == "json":
        return terminal.json_text(answer_fields(answer), indent=2)
    if output_format == "jsonl":
        return "".join(terminal.json_text(hit_fields(hit)) for hit in answer.hits)
    may_colour = terminal.is_terminal or bool(terminal.variables.get("FORCE_COLOR"))
    if output_format == "text" and (may_colour if color == "auto" else color == "always"):
        screen = replace(terminal, is_terminal=True)  # Colours are for people, so lines are cut at its width.
        blocks = _blocks(answer, screen, full=full, explain=explain, classes=classes)
        return _coloured(answer, blocks, screen)
    lines: Iterable[str]
    if output_format == "vimgrep":
        lines = (f"{place_of(hit, terminal)}:1:{visible(hit.signature)}" for hit in answer.hits)
    elif output_format == "files":
        lines = dict.fromkeys(path_from(terminal, hit.root, hit.path) for hit in answer.hits)
    elif output_format == "compact":
        lines = ("  ".join(filter(None, _heading_parts(hit, terminal))) for hit in answer.hits)
    else:
        lines = _plain(answer, _blocks(answer, terminal, full=full, explain=explain, classes=classes))
    return "".join(f"{line}\n" for line in lines)


def render_readings(found: Sequence[Reading], place: str, terminal: Terminal) -> tuple[str, str]:
    """Return the code of a place as text, and a note if it names several."""
    texts = []
    for reading in found:
        path, of = path_from(terminal, reading.root, reading.path), reading.definition
        about = f"  {visible(of.qualified_name)}  {of.kind}" if of else ""
        stale = "  [changed since it was indexed]" if reading.stale else ""
        head = f"{path}:{reading.first_line}-{reading.last_line}{about}{stale}"
        texts.append("".join(f"{line}\n" for line in (head, *reading_lines(reading))))
    note = f"note: {visible(place)} names {len(found)} places: give one of them\n"
    return "\n".join(texts), note if len(found) > 1 else ""


def _heading_parts(hit: Hit, terminal: Terminal) -> tuple[str, str, str]:
    """Return place, name and details of a hit; on a terminal, details that do not fit into its row are left out."""
    place, name = place_of(hit, terminal), visible(hit.qualified_name)
    described = (details(hit), f"{hit.kind}{_notes(hit)}", _notes(hit).strip())
    if not terminal.is_terminal:
        return place, name, described[0]
    fitting = (one for one in described if len(f"{place}  {name}  {one}".rstrip()) <= terminal.width)
    chosen = next(fitting, described[1])
    return place, cut(name, max(terminal.width - len(chosen) - 2, 20)), chosen


def _rows(heading: tuple[str, str, str], width: int) -> int:
    """Count the rows of a heading; a name that does not fit behind the place begins a row."""
    place, rest = len(heading[0]), len("  ".join(heading[1:]).rstrip()) + 2
    rows, used = 1 + (place - 1) // width, (place - 1) % width + 1
    return rows if used + rest <= width else rows + 1


def _blocks(
    answer: Answer, terminal: Terminal, *, full: bool, explain: bool, classes: Mapping[int, Reading]
) -> list[_Block]:
    """Return what to show of each hit; on a terminal, a list of snippets fits the screen if it can."""
    shown = [
        (*with_class(hit, classes[hit.rank]), False)
        if hit.rank in classes
        else (hit, choose(hit, answer, full=full), not (full or hit.before or hit.after))
        for hit in answer.hits
    ]
    headings = [_heading_parts(hit, terminal) for hit in answer.hits]
    counts = [(len(chosen), len(hit.others)) for hit, chosen, _ in shown]
    has_context = any(hit.before or hit.after for hit in answer.hits)
    if terminal.is_terminal and not (full or explain or has_context):
        counts = fitted(counts, [_rows(heading, terminal.width) for heading in headings], terminal.height)
    return [
        _Block(
            hit,
            heading,
            list(explanation(hit)) if explain else [],
            excerpt(hit, chosen[:lines], terminal, is_snippet=is_snippet),
            hit.others[:others],
        )
        for (hit, chosen, is_snippet), heading, (lines, others) in zip(shown, headings, counts, strict=True)
    ]


def _plain(answer: Answer, blocks: Sequence[_Block]) -> Iterator[str]:
    for block in blocks:
        yield "  ".join(filter(None, block.heading))
        yield from block.rows
        yield from (f"{line.number:8} | {line.text}".rstrip() for line in block.lines)
        yield from map(_other, block.others)
        yield ""
    yield footer(answer)


def _other(hit: Hit) -> str:
    """Return a line for another definition of a file, below the best one."""
    return f"{hit.start_line:8}   {visible(hit.qualified_name)}  {details(hit)}"


def details(hit: Hit) -> str:
    """Describe a hit: its kind, its length, how many copies it has, and whether its lines may have moved."""
    lines = hit.last_line - hit.start_line + 1
    length = f", {counted(lines, 'line')}" if lines > 1 else ""
    return f"{hit.kind}{length}{_notes(hit)}"


def _notes(hit: Hit) -> str:
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    moved = "  [changed since it was indexed]" if hit.stale else ""
    return f"{copies}{moved}"


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


def place_of(hit: Hit | Function, terminal: Terminal) -> str:
    """Return path and first line of a definition."""
    return f"{path_from(terminal, hit.root, hit.path)}:{hit.start_line}"


def path_from(terminal: Terminal, root: str, path: str) -> str:
    """Return a path that an editor opens from here, relative below the working directory; in a revision, as in git."""
    if root in terminal.shown:
        return visible(terminal.shown[root] + path)
    whole = Path(root, path)
    shown = os.path.relpath(whole, terminal.here) if whole.is_relative_to(terminal.here) else str(whole)
    return visible(shown)


def _coloured(answer: Answer, blocks: Sequence[_Block], terminal: Terminal) -> str:
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
        for block in blocks:
            hit, (place, name, described) = block.hit, block.heading
            path, heading = Path(hit.root, hit.path), Text(overflow="fold")
            link = Style(color="cyan", link=path.as_uri() if path.is_absolute() else None)
            heading.append(place, style=link)
            heading.append(f"  {name}", style="bold")
            heading.append(f"  {described}".rstrip(), style="yellow" if hit.stale else "dim")
            console.print(heading)
            for row in block.rows:
                console.print(Text(row, style="dim"))
            for line, code in zip(block.lines, coloured(hit, answer, block.lines), strict=True):
                numbered = Text.assemble((f"{line.number:8} │ ", "dim"), code)
                console.print(numbered, no_wrap=True, overflow="ellipsis")
            for other in block.others:
                console.print(Text(_other(other), style="dim"), no_wrap=True, overflow="ellipsis")
            console.print()
        console.print(Text(footer(answer), style="dim"))
    return captured.get()


def fitted(wanted: Sequence[tuple[int, int]], headings: Sequence[int], height: int) -> list[tuple[int, int]]:
    """Return how many lines of code, and how many other definitions, each hit shows.

    Every hit first gets its signature, then its best line. What is left goes to the best hits. If the screen has no
    room for the signatures, nothing is left out: a pager shows the answer.

    >>> fitted([(3, 2), (3, 2), (3, 0)], [1, 1, 1], 18)
    [(3, 2), (2, 0), (2, 0)]
    """
    left = height - _OWN - sum(headings) - len(wanted) - 1  # An empty line below each hit, and the last line.
    hits = range(len(wanted))
    if left < len(wanted) or left >= sum(map(sum, wanted)):
        return list(wanted)
    shown = [[0, 0] for _ in hits]
    for at, part in [(at, 0) for at in (*hits, *hits)] + [(at, part) for at in hits for part in (1, 0, 1)]:
        if left and shown[at][part] < wanted[at][part]:
            shown[at][part] += 1
            left -= 1
    return [(lines, others) for lines, others in shown]


def choose(hit: Hit, answer: Answer, *, full: bool = False) -> list[int]:
    """Return the positions of the lines to show, among those of a hit's code and context, the best ones first."""
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
    rows: dict[int, str] = {}
    first, end = reading.first_line, reading.last_line + 1
    expected = first
    for number, text in [*reading.lines, (end, "")]:
        if number > expected:
            rows[expected] = fold(expected, number - 1)
        rows[number], expected = text, number + 1
    code = "\n".join(rows.get(number, "") for number in range(first, end))
    return replace(hit, code=code, before=(), after=()), [number - first for number in rows if number < end]


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
        at = line.position
        part = _highlighted(hit, line.text, {0}).get(0) if at is None else _part(whole.get(at), line)
        text = part or Text(line.text)
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
