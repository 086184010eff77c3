"""An answer -> text, in every form that `query` and `similar` print. It depends only on facts about the terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from codesearch.cli.invocation import Terminal
from codesearch.engine.answer import Answer, answer_fields, hit_fields
from codesearch.languages import language_of_path, record_of
from codesearch.search.snippets import (
    MAX_COLOURED,
    SNIPPET_LINES,
    WITH_CODE,
    fitted,
    head_lines,
    head_text,
    marker,
    snippet_lines,
    tokens_of,
)
from codesearch.structure.text import (
    MAX_LINE,
    STALE,
    Row,
    after_name,
    counted,
    cut,
    numbered_lines,
    short_name,
)
from codesearch.types import FUNCTIONS, HEADER_KINDS, Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

    from codesearch.duplicates.records import Function
    from codesearch.structure.whole import Reading

Line = tuple[int, str]
"""The number of a line, and its text without the common indentation, safe to print, and cut."""
_OWN = 2
"""Rows for the command line above the output and the prompt below it."""
_WITH_CONTEXT = 6
_LEAST_DETAILS = 12
"""Characters of a name or a signature that are worth a part of a row."""
_GUTTER = 11
_NUMBER = 8
_COLUMN = 40
"""Characters of a row for one of several definitions."""
_CALL = "()"
_CUT = "…"
_STYLES = {"about": "dim", "place": "cyan", "name": "bold", "more": "dim", "stale": "yellow", "text": ""}


class _Block(NamedTuple):
    hit: Hit
    heading: Row
    scores: list[str]
    lines: list[Line]
    others: list[str]


def render(
    answer: Answer,
    form: str,
    terminal: Terminal,
    *,
    full: bool = False,
    explain: bool = False,
    color: str = "auto",
) -> str:
    """Return an answer as text, compact, files, json, jsonl or vimgrep."""
    if form == "json":
        return terminal.json_text(answer_fields(answer))
    if form == "jsonl":
        return "".join(terminal.json_text(hit_fields(hit), indent=None) for hit in answer.hits)
    if form == "text" and has_colour(terminal, color):
        screen = replace(terminal, is_terminal=True)  # Colours are for people, so lines are cut at its width.
        return _printed(_coloured(answer, _blocks(answer, screen, full=full, explain=explain)), screen)
    lines: Iterable[str]
    if form == "vimgrep":
        lines = (
            f"{path_from(terminal, hit.root, hit.path)}:{hit.best_line}:1:{visible(hit.signature)}"
            for hit in answer.hits
        )
    elif form == "files":
        lines = dict.fromkeys(path_from(terminal, hit.root, hit.path) for hit in answer.hits)
    elif form == "compact":
        lines = (_heading(hit, terminal) for hit in answer.hits)
    else:
        lines = _plain(answer, _blocks(answer, terminal, full=full, explain=explain))
    return "".join(f"{line}\n" for line in lines)


def reading_lines(readings: Sequence[Reading], terminal: Terminal) -> Iterator[str]:
    """Yield the code of places as lines."""
    for at, reading in enumerate(readings):
        path, of = path_from(terminal, reading.root, reading.path), reading.definition
        place = f"{path}:{reading.first_line}-{reading.last_line}"
        name, kind = (visible(short_name(of)), f"  {of.kind}") if of else ("", "")
        yield from [""] if at else []
        yield place_row(terminal, place, name, more=f"{kind}{STALE if reading.stale else ''}")
        yield from numbered_lines(reading.lines, reading.first_line, reading.last_line)


def place_row(terminal: Terminal, place: str, name: str, about: str = "", more: str = "") -> Row:
    """Return a row with a place and a name; on a terminal it fits, without a name that has no room."""
    if terminal.is_terminal:
        width = terminal.width - len(about) - len(more)
        place = fold_path(place, max(width - len(name) - 2, width // 3))
        room = width - len(place) - 2
        if len(name) > room:  # The names of one file differ at their ends.
            name = f"{_CUT}{name[len(_CUT) - room :]}" if room >= _LEAST_DETAILS else ""
    return _row(place, name, about, more)


def _row(place: str, name: str, about: str = "", more: str = "") -> Row:
    last = "stale" if STALE in more else "more"
    return Row(sys.maxsize, about=about, place=place, name=name and f"  {name}", **{last: more})


def columns_of(terminal: Terminal) -> int:
    """Return how many of the other definitions of a file share a row."""
    return max(terminal.width // _COLUMN, 1)


def screen_rows(terminal: Terminal) -> int:
    """Return how many rows of a screen are for definitions; a quarter of its rows is for code."""
    rows = _rows_for_hits(terminal)
    return max(rows - max(rows // 4, WITH_CODE), WITH_CODE)


def _rows_for_hits(terminal: Terminal) -> int:
    return terminal.height - _OWN - 1  # The last one is the footer.


def _blocks(answer: Answer, terminal: Terminal, *, full: bool, explain: bool) -> Iterator[_Block]:
    """Yield what to show of each hit; on a terminal, a list of snippets fits the screen if it can."""
    hits = answer.hits
    chosen = [choose(hit, answer, full=full) for hit in hits]
    lengths = [len(lines) for lines in chosen]
    fit: Sequence[int] | None = None
    if terminal.is_terminal and not (full or explain or any(hit.before or hit.after for hit in hits)):
        headings = sum(1 + ceil(len(hit.others) / columns_of(terminal)) for hit in hits)
        fit = fitted(lengths, _rows_for_hits(terminal) - headings)
    overloads = Counter((one.root, one.path, one.qualified_name) for one in answer.screen)
    for hit, best, count in zip(hits, chosen, fit or lengths, strict=True):
        if fit is None:
            heading, others = _heading(hit, terminal), [*map(_other, hit.others), ""]
        else:
            is_overloaded = bool(hit.passages) and overloads[hit.root, hit.path, hit.qualified_name] > 1
            heading = _heading_in_one_row(hit, terminal, has_code=count > 0 and not is_overloaded)
            others = list(_other_rows(hit, terminal))
        scores = list(explanation(hit)) if explain else []
        yield _Block(hit, heading, scores, excerpt(hit, best[:count], terminal, full=full), others)


def _heading(hit: Hit, terminal: Terminal) -> Row:
    return _row(place_of(hit, terminal), visible(hit.qualified_name), more=f"  {_details(hit)}")


def _heading_in_one_row(hit: Hit, terminal: Terminal, *, has_code: bool) -> Row:
    """Return a heading that fits into a row: details are shorter, then folders of the path are left out.

    If no code below it shows the parameters, they are the details.
    """
    place, name, details = place_of(hit, terminal), visible(short_name(hit)), _details(hit)
    room = max(terminal.width - len(place) - len(name) - 4, 0)
    if not has_code:
        details = cut(visible(after_name(hit)), room) if room > _LEAST_DETAILS else ""
    elif len(details) > room:
        details = hit.kind if len(hit.kind) <= room else ""
    return place_row(terminal, place, name, more=details and f"  {details}")


def _other_rows(hit: Hit, terminal: Terminal) -> Iterator[str]:
    """Yield rows for other definitions of a file, in columns; one that is alone in its row has its parameters."""
    columns, separator, owner = columns_of(terminal), record_of(hit.language).separator, short_name(hit)
    owner = owner if hit.kind in HEADER_KINDS else owner.rpartition(separator)[0]
    for at in range(0, len(hit.others), columns):
        row = hit.others[at : at + columns]
        width = terminal.width // (columns if len(row) > 1 else 1)
        whole, fitting = (
            [f"{one.start_line:{_NUMBER}}  {_label(one, owner, separator, room)}" for one in row]
            for room in (terminal.width, width - _NUMBER - 4)
        )
        fits = sum(max(len(cell), width) for cell in whole[:-1]) + len(whole[-1]) <= terminal.width
        cells = whole if fits else fitting
        if len(row) > 1:
            yield "".join(cell.ljust(width) for cell in cells).rstrip()
        elif (rest := visible(after_name(row[0]))) == row[0].kind:
            yield cells[0]
        else:
            between = "" if rest.startswith("(") else "  "
            yield cut(f"{cells[0].removesuffix(_CALL)}{between}{rest}", width)


def _label(of: Hit, owner: str, separator: str, width: int) -> str:
    """Return the kind and name of a definition without its class if that is the owner, the class of the best one.

    Brackets say that it is a function. If there is no room, another class is left out, then brackets and kind, then the
    middle of the name.
    """
    name = visible(short_name(of))
    if owner and name.startswith(owner + separator):
        name = name.removeprefix(owner)
    before, after = ("", _CALL) if of.kind in FUNCTIONS else (f"{of.kind} ", "")
    bare = visible(of.name)
    names = (name, f"{_CUT}{separator}{bare}", bare) if name.rfind(separator) > 0 else (name, bare)
    end = max(width // 2, 1)
    cut_name = f"{bare[: max(width - end - len(_CUT), 0)]}{_CUT}{bare[-end:]}"
    forms = (*(f"{before}{one}{after}" for one in names), bare, cut_name)
    return next((form for form in forms if len(form) <= width), cut_name)


def fold_path(place: str, width: int) -> str:
    """Leave folders in the middle of a path out, so that it fits; the file stays whole.

    >>> fold_path("app/src/main/java/org/shop/Cart.java:12", 32), fold_path("app/src/shop/Cart.java:12", 8)
    ('app/…/java/org/shop/Cart.java:12', '…/Cart.java:12')
    """
    *folders, file = place.split("/")
    shorter = ([folders[0], _CUT, *folders[start:], file] for start in range(2, len(folders) + 1))
    forms = [place, *map("/".join, shorter), f"{_CUT}/{file}" if folders else file]
    return next((form for form in forms if len(form) <= width), forms[-1])


def _plain(answer: Answer, blocks: Iterable[_Block]) -> Iterator[str]:
    for block in blocks:
        code = (f"{number:8} | {text}".rstrip() for number, text in block.lines)
        yield from (block.heading, *block.scores, *code, *block.others)
    yield _footer(answer)


def _other(hit: Hit) -> str:
    return f"{hit.start_line:8}   {visible(hit.qualified_name)}  {_details(hit)}"


def _details(hit: Hit) -> str:
    lines = hit.last_line - hit.start_line + 1
    length = f", {counted(lines, 'line')}" if lines > 1 else ""
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    return f"{hit.kind}{length}{copies}{STALE if hit.stale else ''}"


def explanation(hit: Hit) -> Iterator[str]:
    """Yield a row for each part of the score, and the sum."""
    cosine, prior, bm25 = (hit.signals.get(name, 0) for name in ("cosine", "length_prior", "bm25_normalised"))
    details = {
        "vectors": f": cosine {cosine:.3f} x length prior {prior:.3f}",
        "keywords": f": BM25F {bm25:.3f} of the highest possible",
    }
    for name, value in hit.parts.items():
        if value:
            yield f"{value:+8.3f}  {name}{details.get(name, '')}"
    yield f"{hit.score:+8.3f}  score"


def _footer(answer: Answer) -> str:
    hits = counted(len(answer.hits), "hit") if answer.hits else "no hits"
    is_sure = answer.hits and answer.confidence is not None
    confidence = f", confidence {percent(answer.confidence or 0)}" if is_sure else ""
    documents = counted(answer.documents, "document")
    return f"{hits} from {documents} in {answer.seconds * 1000:.0f} ms{confidence}"


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
    """Return a path that an editor opens from here, relative in the same index or below; in a revision, as in git."""
    if root in terminal.shown:
        return visible(terminal.shown[root] + path)
    whole = Path(root, path)
    is_near = whole.is_relative_to(terminal.here) or terminal.here.is_relative_to(root)
    return visible(os.path.relpath(whole, terminal.here) if is_near else str(whole))


def short_path(terminal: Terminal, root: str, path: str) -> str:
    """Return a path for people: on a terminal, folders in its middle are left out if it takes half of the width."""
    whole = path_from(terminal, root, path)
    return fold_path(whole, terminal.width // 2) if terminal.is_terminal else whole


def has_colour(terminal: Terminal, color: str) -> bool:
    """Say whether to print colours."""
    may_colour = terminal.is_terminal or bool(terminal.variables.get("FORCE_COLOR"))
    return may_colour if color == "auto" else color == "always"


def _coloured(answer: Answer, blocks: Iterable[_Block]) -> Iterator[Text]:
    """Yield the text with colours, highlighted code, and paths that are links."""
    from rich.style import Style
    from rich.text import Text

    mark = marker(answer.query, answer.mode)
    for block in blocks:
        hit, heading = block.hit, _styled(block.heading)
        if (path := Path(hit.root, hit.path)).is_absolute():
            heading.stylize(Style(link=path.as_uri()), 0, len(block.heading.parts["place"]))
        yield heading
        yield from (Text(row, style="dim") for row in block.scores)
        for (number, _), code in zip(block.lines, _coloured_lines(hit, block.lines), strict=True):
            for start, end in mark(code.plain) if hit.code else ():
                code.stylize("bold", start, end)
            yield Text.assemble((f"{number:8} │ ", "dim"), code)
        yield from (Text(other, style="dim") for other in block.others)
    yield Text(_footer(answer), style="dim")


def shown(lines: Iterable[str], terminal: Terminal, color: str = "auto") -> str:
    """Return the lines of an answer about places, in the colours of hits if there are colours."""
    if not has_colour(terminal, color):
        return "".join(f"{line}\n" for line in lines)
    return _printed(_painted(lines), terminal)


def _painted(lines: Iterable[str]) -> Iterator[Text]:
    """Yield lines with colours; consecutive lines of code are highlighted together."""
    from rich.text import Text

    language = ""
    for (is_code, _), group in groupby(enumerate(lines), _run_of):
        rows = [line for _, line in group]
        if is_code:
            gutters = [row.parts["about"] for row in rows if isinstance(row, Row)]
            code = "\n".join(row[len(gutter) :] for row, gutter in zip(rows, gutters, strict=True))
            for gutter, line in zip(gutters, _highlighted(language, code), strict=True):
                yield Text.assemble((gutter.replace("|", "│"), "dim"), line)
            continue
        place = rows[0].parts.get("place", "") if isinstance(rows[0], Row) else ""
        if spec := language_of_path(place.partition(":")[0].strip()):
            language = spec.name
        yield _styled(rows[0])


def _styled(line: str) -> Text:
    from rich.text import Text

    text, end = Text(line), 0
    for part, shown in line.parts.items() if isinstance(line, Row) else ():
        text.stylize(_STYLES[part], end, end := end + len(shown))
    return text


def _run_of(numbered: tuple[int, str]) -> tuple[bool, int]:
    """Return whether a line is code, and a number that differs unless it follows the line before."""
    at, line = numbered
    parts = line.parts if isinstance(line, Row) else {}
    number = int(parts["about"].strip(" |") or 0) if "code" in parts else 0
    return "code" in parts, number - at


def _printed(rows: Iterable[Text], terminal: Terminal) -> str:
    import io

    from rich.console import Console

    console = Console(
        file=(printed := io.StringIO()),
        force_terminal=True,
        width=terminal.width,
        height=25,  # Nothing depends on it, but `rich` looks for a real terminal unless both measures are given.
        highlight=False,
        legacy_windows=False,
        _environ=terminal.variables,
    )
    for row in rows:
        console.print(row, soft_wrap=True)
    return printed.getvalue()


def choose(hit: Hit, answer: Answer, *, full: bool = False) -> list[int]:
    """Return the positions of the lines to show, among those of a hit's code and context, the best ones first."""
    source = _source(hit)
    if not hit.code:
        return [at for at, line in enumerate(source) if line.strip()]
    if not (full or hit.before or hit.after):
        return snippet_lines(hit, answer.query, answer.mode, SNIPPET_LINES)
    most = len(hit.before) + _WITH_CONTEXT
    is_whole = full or len(source) - len(hit.after) <= most
    return list(range(len(source) if is_whole else most))


def excerpt(hit: Hit, chosen: Iterable[int], terminal: Terminal, *, full: bool = False) -> list[Line]:
    """Return the chosen lines of a hit in their order; in a snippet, a signature over several lines is one line."""
    width = max(terminal.width - _GUTTER, 20) if terminal.is_terminal else MAX_LINE
    source, chosen = _source(hit), sorted(chosen)
    if not hit.code:
        return [(hit.start_line, cut(visible(source[at]), width)) for at in chosen]
    texts = _safe(source[at] for at in chosen)
    indent = min((len(text) - len(text.lstrip()) for text in texts if text.strip()), default=0)
    first, head = hit.start_line - len(hit.before), head_lines(hit)
    is_snippet = not (full or hit.before or hit.after)
    lines = []
    for at, text in zip(chosen, texts, strict=True):
        is_head = is_snippet and at == head.start and len(head) > 1
        lines.append((first + at, cut(head_text(hit) if is_head else text[indent:], width)))
    return lines


def _source(hit: Hit) -> list[str]:
    """Return the lines that can be shown: the code with its context, else what the index has."""
    if hit.code:
        return [*hit.before, *hit.code.split("\n"), *hit.after]
    return [hit.signature, *hit.docstring.split("\n")[: SNIPPET_LINES - 1]]


def _safe(lines: Iterable[str]) -> list[str]:
    return [visible(line.rstrip().expandtabs(4)) for line in lines]


def _coloured_lines(hit: Hit, lines: Sequence[Line]) -> Iterator[Text]:
    from rich.text import Text

    if not hit.code:
        yield from (Text(text, style="dim") for _, text in lines)
        return
    # A line alone does not say that it is inside a comment or a docstring.
    first = hit.start_line - len(hit.before)
    last = max((number for number, _ in lines), default=first)
    above = _safe(_source(hit)[: last - first + 1])
    whole = _highlighted(hit.language, "\n".join(above)[:MAX_COLOURED])
    for number, text in lines:
        if number - first >= len(whole):  # It is too far down.
            yield Text(text)
            continue
        line, shown = whole[number - first], text.removesuffix(_CUT)
        start = line.plain.find(shown)
        if start == -1:  # It is the signature in one line.
            line, start = _highlighted(hit.language, text)[0], 0
        yield line[start : start + len(shown)].append(text[len(shown) :])


def _highlighted(language: str, code: str) -> list[Text]:
    """Return the lines of code with colours, if a lexer knows the language."""
    from pygments.token import Token
    from rich.syntax import Syntax
    from rich.text import Text

    style_of = Syntax.get_theme("ansi_dark").get_style_for_token
    tokens = tokens_of(code, language)
    # The mark of a line that is cut is no code.
    parts = [(text, "" if token is Token.Error else style_of(token)) for token, text in tokens]
    return list(Text.assemble(*parts).split("\n", allow_blank=True))
