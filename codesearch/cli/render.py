"""An answer -> text, in every form that `query` and `similar` print. It depends only on facts about the terminal."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.cli.invocation import Terminal
from codesearch.config import FILE_SHARE
from codesearch.engine.answer import Answer, answer_fields, hit_fields
from codesearch.languages import language_of_path, record_of
from codesearch.search.snippets import (
    MAX_COLOURED,
    SNIPPET_LINES,
    WITH_CODE,
    Marker,
    fitted,
    head_lines,
    marker,
    shares,
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
    marks_of,
    short_name,
    shown_kind,
)
from codesearch.types import FUNCTIONS, HEADER_KINDS, Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from rich.text import Text

    from codesearch.duplicates import Function

Line = tuple[int, str]
"""The number of a line, and its text without the common indentation, safe to print, and cut."""
_OWN = 2
"""Rows for the command line above the output and the prompt below it."""
_WITH_CONTEXT = 6
_LEAST_DETAILS = 12
"""Characters of a name or a signature that are worth a part of a row."""
_GUTTER = 11
_NUMBER = 6
_COLUMN, _BETWEEN = 20, "   "
"""The fewest characters of a row that one of several definitions takes, as most do, and what is between them."""
_LONG_NAME = 30
_CODE_SHARE = 6
"""The part of the rows that is for code."""
_CALL, _CUT_CALL = "()", "(…)"
_CUT = "…"
_STYLES = {
    **{"about": "dim", "place": "cyan", "name": "bold", "more": "dim", "stale": "yellow"},
    **dict.fromkeys(("text", "others"), ""),
}
_NUMBERS = r"(?:^ *|   )\d+  "


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
    if form == "text":
        screen = replace(terminal, is_terminal=terminal.is_terminal or has_colour(terminal, color))
        mark = marker(answer.query, answer.mode)
        return shown(_rows(answer, screen, full=full, explain=explain), screen, color, mark)
    lines: Iterable[str]
    if form == "vimgrep":
        lines = (
            f"{path_from(terminal, hit.root, hit.path)}:{hit.best_line}:1:{visible(hit.signature)}"
            for hit in answer.hits
        )
    elif form == "files":
        lines = dict.fromkeys(path_from(terminal, hit.root, hit.path) for hit in answer.hits)
    else:
        lines = (_heading(hit, terminal) for hit in answer.hits)
    return "".join(f"{line}\n" for line in lines)


def place_row(
    terminal: Terminal, place: str, name: str, about: str = "", more: str = "", hit: Hit | None = None
) -> Row:
    """Return a row with a place and a name; on a terminal it fits, with the end of a name that has no room."""
    if terminal.is_terminal:
        width = terminal.width - len(about) - len(more)
        place = fold_path(place, width - len(name) - 2)
        if width - len(place) - 2 < min(len(name), _LEAST_DETAILS):
            place = _end_of(place, max(width // 2, _LEAST_DETAILS))
        name = _end_of(
            name, max(width - len(place) - 2, _LEAST_DETAILS)
        )  # The names of one file differ at their ends.
    return _row(place, name, about, more, hit)


def _end_of(text: str, width: int) -> str:
    return text if len(text) <= width else f"{_CUT}{text[len(_CUT) - width :]}"


def _row(place: str, name: str, about: str = "", more: str = "", hit: Hit | None = None) -> Row:
    last = "stale" if STALE in more else "more"
    return Row(sys.maxsize, hit, about=about, place=place, name=name and f"  {name}", **{last: more})


def columns_of(terminal: Terminal) -> int:
    """Return about how many of the other definitions of a file share a row."""
    return max(terminal.width // _COLUMN, 1)


def screen_rows(terminal: Terminal) -> int:
    """Return how many rows of a screen are for definitions; the best hits have code in the others."""
    rows = _rows_for_hits(terminal)
    return max(rows - max(rows // _CODE_SHARE, WITH_CODE), WITH_CODE)


def _rows_for_hits(terminal: Terminal) -> int:
    return terminal.height - _OWN - 1  # The last one is the footer.


def _rows(answer: Answer, terminal: Terminal, *, full: bool, explain: bool) -> Iterator[Row]:
    """Yield the rows of each hit, and the footer; on a terminal, a list of hits fits the screen if it can."""
    is_list = not (full or explain or any(hit.before or hit.after for hit in answer.hits))
    screen = list(_screen(answer, terminal)) if terminal.is_terminal and is_list else []
    for hit in [] if screen else answer.hits:
        screen.append(_heading(hit, terminal))
        screen += [_aside(row) for row in (explanation(hit) if explain else ())]
        screen += _code(hit, excerpt(hit, choose(hit, answer, full=full), terminal, full=full))
        screen += [*(Row(sys.maxsize, others=_other(other)) for other in hit.others), _aside("")]
    yield from (*screen, _aside(_footer(answer)))


def _aside(text: str) -> Row:
    return Row(sys.maxsize, more=text)


def _code(hit: Hit, lines: Iterable[Line]) -> Iterator[Row]:
    return (Row(sys.maxsize, hit, about=f"{number:8} | ", code=text) for number, text in lines)


def _screen(answer: Answer, terminal: Terminal) -> Iterator[Row]:
    """Yield what fits on a screen; nothing if the hits alone do not fit.

    If the query names all of them, they have their code from the top. Else the first hits have a line of code, the best
    other definitions of the files fill the screen, and what is left has more code, unless probably nothing answers.
    """
    hits, others = answer.hits, _other_rows(answer, terminal)
    left = _rows_for_hits(terminal) - len(hits) - sum(map(len, others))
    if is_named := bool(hits) and all(hit.is_named for hit in hits):  # They are shown from the top.
        chosen = [list(range(head_lines(hit).stop, hit.code.count("\n") + 1)) for hit in hits]
        fit = shares(list(map(len, chosen)), left) if left >= min(len(hits), WITH_CODE) else None
    else:
        chosen = [[] if answer.low_confidence else _below_heading(hit, answer) for hit in hits]
        fit = fitted(list(map(len, chosen)), left)
    for hit, lines, count, rows in zip(hits, chosen, fit or (), others, strict=bool(fit)):
        yield _heading_in_one_row(hit, terminal)
        is_cut = is_named and 0 < count < len(lines)
        yield from _code(hit, excerpt(hit, lines[: count - is_cut], terminal))
        if is_cut:
            more = counted(len(lines) - count + 1, "more line")
            yield _aside(f"{_CUT:>8}   {more}: codesearch read {place_of(hit, terminal)}")
        yield from (Row(sys.maxsize, others=row) for row in rows)


def _below_heading(hit: Hit, answer: Answer) -> list[int]:
    """Return the positions of lines that explain a hit, the best ones first, without the signature in its heading."""
    if not hit.code:
        return choose(hit, answer)[1:]
    lines = snippet_lines(hit, answer.query, answer.mode, SNIPPET_LINES + 1)
    head = -1 if answer.mode == "exact" else head_lines(hit).start
    return [at for at in lines if at != head][:SNIPPET_LINES]


def _heading(hit: Hit, terminal: Terminal) -> Row:
    return _row(place_of(hit, terminal), visible(hit.qualified_name), more=f"  {_details(hit)}", hit=hit)


def _heading_in_one_row(hit: Hit, terminal: Terminal) -> Row:
    """Return a heading that fits into a row: parameters are cut, then folders of the path are left out."""
    place, name, rest = place_of(hit, terminal), visible(short_name(hit)), _rest(hit)
    details = rest if rest and hit.kind in FUNCTIONS else f"{shown_kind(hit)} {rest}".rstrip()
    room = terminal.width - len(place) - len(name) - 4 - len(marks_of(hit))
    details = details if len(details) <= room else cut(details, room) if room > _LEAST_DETAILS else ""
    if not details and hit.kind in FUNCTIONS:
        name += _CALL if rest.startswith(_CALL) else _CUT_CALL
    elif not details:
        details = shown_kind(hit)
    return place_row(terminal, place, name, more=(details and f"  {details}") + marks_of(hit), hit=hit)


def _other_rows(answer: Answer, terminal: Terminal) -> list[list[str]]:
    """Return rows of the other definitions of each file: the best ones that fit, each in the first row with room.

    One that is alone in its row has its parameters.
    """
    names = Counter((one.root, one.path, short_name(one)) for one in answer.screen)
    rows: list[list[tuple[str, Hit | None]]] = [[] for _ in answer.hits]
    left = _rows_for_hits(terminal) - len(rows) - WITH_CODE
    others = [
        (other.score + FILE_SHARE * hit.score, at, other)
        for at, hit in enumerate(answer.hits)
        for other in hit.others
    ]
    for _, at, other in sorted(others, key=itemgetter(0), reverse=True):
        is_overload = names[other.root, other.path, short_name(other)] > 1
        cell = f"{other.start_line}  {_label(other, answer.hits[at], with_parameters=is_overload)}"
        room = terminal.width - len(cell) - len(_BETWEEN)
        if (fitting := next((n for n, (row, _) in enumerate(rows[at]) if len(row) <= room), -1)) >= 0:
            rows[at][fitting] = f"{rows[at][fitting][0]}{_BETWEEN}{cell}", None
        elif left > 0:
            left -= 1
            rows[at].append((" " * (_NUMBER - len(str(other.start_line))) + cell, other))
    return [[cut(_with_parameters(row, of), terminal.width) for row, of in of_file] for of_file in rows]


def _with_parameters(row: str, of: Hit | None) -> str:
    rest = _rest(of) if of else ""
    if not rest or row.removesuffix(_CALL).endswith((")", _CUT)):  # It has them.
        return row
    return f"{row.removesuffix(_CALL)}{'' if rest.startswith('(') else '  '}{rest}"


def _rest(of: Hit) -> str:
    """Return what a signature says after the name; that of a module is only the first line of its code."""
    rest = visible(after_name(of))
    return "" if of.kind == "module" or rest == of.kind else rest


def _label(of: Hit, best: Hit, *, with_parameters: bool) -> str:
    """Return kind and name of a definition, without its class if the best definition of the file is or has that class.

    Brackets say that it is a function. A dot stands for the class, but `::` would mean a global name. If the name is
    long, another class is left out.
    """
    separator, owner = record_of(of.language).separator, short_name(best)
    owner = owner if best.kind in HEADER_KINDS else owner.rpartition(separator)[0]
    name = visible(short_name(of))
    if owner and name.startswith(owner + separator):
        name = name.removeprefix(owner).removeprefix("::")
    if len(name) > _LONG_NAME and name.rfind(separator) > 0:
        name = f"{_CUT}{separator}{visible(of.name)}"
    if of.kind not in FUNCTIONS:
        return f"{shown_kind(of)} {name}"
    parameters = _rest(of) if with_parameters else ""
    return (
        cut(f"{name}{parameters}", max(_LONG_NAME, len(name) + 2))
        if parameters.startswith("(")
        else f"{name}{_CALL}"
    )


def fold_path(place: str, width: int) -> str:
    """Leave folders in the middle of a path out, so that it fits; the file stays whole.

    >>> fold_path("app/src/main/java/org/shop/Cart.java:12", 32), fold_path("app/src/shop/Cart.java:12", 8)
    ('app/…/java/org/shop/Cart.java:12', '…/Cart.java:12')
    """
    *folders, file = place.split("/")
    shorter = ([folders[0], _CUT, *folders[start:], file] for start in range(2, len(folders) + 1))
    forms = [place, *map("/".join, shorter), f"{_CUT}/{file}" if folders else file]
    return next((form for form in forms if len(form) <= width), forms[-1])


def _other(hit: Hit) -> str:
    return f"{hit.start_line:8}   {visible(hit.qualified_name)}  {_details(hit)}"


def _details(hit: Hit) -> str:
    lines = hit.last_line - hit.start_line + 1
    length = f", {counted(lines, 'line')}" if lines > 1 else ""
    return f"{shown_kind(hit)}{length}{marks_of(hit)}"


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


def shown(lines: Iterable[str], terminal: Terminal, color: str = "auto", mark: Marker | None = None) -> str:
    """Return the lines of an answer, with colours if there are colours; `mark` finds the words of a query in code."""
    if not has_colour(terminal, color):
        return "".join(f"{line}\n" for line in lines)
    return _printed(_painted(lines, mark or (lambda text: [])), terminal)


def _painted(lines: Iterable[str], mark: Marker) -> Iterator[Text]:
    """Yield lines with colours; consecutive lines of code are highlighted together."""
    from rich.text import Text

    language = ""
    for (is_code, _, hit), group in groupby(enumerate(lines), _run_of):
        rows = [line for _, line in group]
        if is_code:
            gutters = [row.parts["about"] for row in rows if isinstance(row, Row)]
            texts = [row[len(gutter) :] for row, gutter in zip(rows, gutters, strict=True)]
            numbers = [int(gutter.strip(" |") or 0) for gutter in gutters]
            if hit:
                painted = list(_coloured_lines(hit, list(zip(numbers, texts, strict=True))))
            else:
                painted = _highlighted(language, "\n".join(texts))
            for gutter, line in zip(gutters, painted, strict=True):
                for start, end in mark(line.plain) if hit and hit.code else ():
                    line.stylize("bold", start, end)
                yield Text.assemble((gutter.replace("|", "│"), "dim"), line)
            continue
        place = rows[0].parts.get("place", "") if isinstance(rows[0], Row) else ""
        if spec := language_of_path(place.partition(":")[0].strip()):
            language = spec.name
        yield _styled(rows[0], mark)


def _styled(line: str, mark: Marker) -> Text:
    from rich.style import Style
    from rich.text import Text

    text, end = Text(line), 0
    if not isinstance(line, Row):
        return text
    for part, shown in line.parts.items():
        text.stylize(_STYLES[part], end, end := end + len(shown))
    if "others" in line.parts:
        text.highlight_regex(_NUMBERS, "dim")
        for start, end in mark(line):
            text.stylize("bold", start, end)
    if line.hit and (path := Path(line.hit.root, line.hit.path)).is_absolute():
        text.stylize(Style(link=path.as_uri()), 0, len(line.parts["place"]))
    return text


def _run_of(numbered: tuple[int, str]) -> tuple[bool, int, Hit | None]:
    """Return whether a line is code, a number that differs unless it follows the line before, and its hit."""
    at, line = numbered
    if not isinstance(line, Row) or "code" not in line.parts:
        return False, -at, None
    return True, 0 if line.hit else int(line.parts["about"].strip(" |") or 0) - at, line.hit


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
        lines.append((first + at, cut(hit.signature if is_head else text[indent:], width)))
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
