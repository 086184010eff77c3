r"""A file of documentation or configuration -> its documents.

A section goes from its heading to the next one. Its name is the heading, qualified by the headings around it. The text
above the first heading has the title in the front matter as its name, or the name of the file. A long section is cut
into parts at blank lines, or where the indentation is smallest.

    # Markdown, and <h2>HTML</h2>          Setext, reStructuredText      =====
                                           and plain text                Title
                                           ----------------------        =====

Code blocks, comments and front matter have no headings. Tables, top-level keys, build stages and targets of
configuration files have sections.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby

from codesearch.config import ParseConfig
from codesearch.languages.records import Language
from codesearch.parsing.flags import file_flags
from codesearch.parsing.identifiers import module_name
from codesearch.parsing.keys import copy_key
from codesearch.types import GENERATED, Document

DATA = "data"
"""The reason for skipping a file that is neither documentation nor configuration."""
_PART_BYTES = 2_500
_MAX_TITLE = 120
_MAX_SIGNATURE = 300
_MAX_NAMES = 5
_SHORT_ROWS = 3
_MAX_DATA_BYTES = 100_000
_MAX_CODE_BYTES = 1_000_000
_MIN_PROSE_WORDS = 3
_WORD = re.compile(r"[^\W\d_]{2,}")
_COMMENT = re.compile(r"\s*(?:#|;|//)")
_TITLE = re.compile(r"title\s*[:=](.*)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*\)|\[[^\[\]]*\])")
_MARKS = re.compile(r"<[^<>]*>|\{#[^{}]*\}|[`*]")
_NOISE = re.compile(
    r"\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)|https?://[^\s)>\]`'\"]+|<!--.{0,2000}?-->"
    r"|</?(?:a|br|div|h\d|img|p|source|span|sub|sup|table|t[dhr])\b[^<>]*>",
    re.DOTALL,
)
"""Text that a reader does not see: targets of links, comments, tags."""
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")  # The marks; the title.
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_HTML = re.compile(r"[ \t]*<h([1-6])\b[^>]*>(.*?)</h\1>", re.IGNORECASE)  # The level; the title.
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_NO_PARAGRAPH = re.compile(r" {4}|\t|[ \t]*(?:[-*+>|#<]|\d{1,9}[.)]\s|$)")
_FRONT_MATTER = frozenset({"---", "+++"})
_MAX_FRONT_MATTER = 200
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_LONG_ADORNMENT = 4


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a section."""

    row: int  # 0-based line of its heading
    body_row: int  # first line of its text; `row` if the heading is a part of the text
    title: str  # the heading as written, without the marks around it
    level: int = 1  # 1 for the outermost; it is inside the last one before it with a lower level


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of a file that belong together."""

    names: tuple[str, ...]  # titles of the sections around it, and its own
    row: int  # its first line, 0-based
    body_row: int  # the first line of its text
    end: int  # the line after its last


def refuse_text(source: bytes, path: str, spec: Language) -> str | None:
    """Return the reason to skip a file that is cut and not parsed: data, generated; None if there is none."""
    if (spec.grammar and not spec.is_markup) or spec.name in ("markdown", "rst"):
        return None
    if spec.content in ("code", "other") and file_flags(path, source) & GENERATED:
        return "generated"
    is_data = (
        len(source) > (_MAX_CODE_BYTES if spec.content == "code" else _MAX_DATA_BYTES)
        or (spec.name == "json" and source.lstrip().startswith(b"["))
        or (spec.name == "text" and not _is_prose(source.decode("utf-8", "replace")))
    )
    return DATA if is_data else None


def _is_prose(text: str) -> bool:
    """Say whether the lines of a text have three words or more on average."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(_WORD.findall(text)) >= _MIN_PROSE_WORDS * len(lines)


def text_documents(source: bytes, path: str, spec: Language, config: ParseConfig) -> Iterator[Document]:
    """Yield the sections of a file, in order."""
    lines, starts = lines_of(source)
    flags, is_docs = file_flags(path, source), spec.content == "docs"
    for section in _sections(lines, path, spec):
        for row, end in parts_of(lines, starts, section.row, section.end):
            while end > row and not lines[end - 1].strip():
                end -= 1
            code = "\n".join(lines[max(row, section.body_row) : end]).encode()[: config.max_code_bytes]
            text = code.decode("utf-8", "ignore")
            if is_docs:
                text = _NOISE.sub(" ", text)
            if not _WORD.search(text):
                continue
            names = section.names
            name = names[-1] if is_docs else names[-1].rpartition(spec.separator)[2] or names[-1]
            signature = " ".join(lines[row].split())[:_MAX_SIGNATURE]
            about = ("section" if is_docs else "setting", name, spec.separator.join(names), signature, "")
            yield Document(
                *(path, spec.name, *about, row + 1, end, end),
                code=text,
                start_byte=starts[row],
                end_byte=starts[end] - 1,
                flags=flags,
                copy_key=copy_key("", names[-1], code, spec),
            )


def _sections(lines: Sequence[str], path: str, spec: Language) -> list[_Section]:
    """Return the sections of a file, in order."""
    top = front_matter_end(lines) if spec.name == "markdown" else 0
    title = next(
        (_plain(match[1].strip(" \"'")) for line in lines[:top] if (match := _TITLE.match(line))), ""
    )
    file_name = title or module_name(path) or spec.name
    # A title qualifies all sections. The name of a file qualifies none, because it is in the path.
    cuts = [Cut(top, top, file_name, 0 if title else sys.maxsize), *_cuts(lines, spec)]
    ends = [*(cut.row for cut in cuts[1:]), len(lines)]
    around: list[Cut] = []
    sections = []
    for cut, end in zip(cuts, ends, strict=True):
        while around and around[-1].level >= cut.level:
            around.pop()
        around.append(cut)
        names = tuple(_plain(outer.title) or file_name for outer in around[-_MAX_NAMES:])
        sections.append(_Section(names, cut.row, cut.body_row, end))
    if spec.joins_sections:
        return list(_with_short_joined(sections, file_name))
    return sections


def _cuts(lines: Sequence[str], spec: Language) -> Iterator[Cut]:
    if spec.name == "markdown":
        yield from markdown_cuts(lines)
    elif spec.content == "docs":
        yield from underlined_cuts(lines)
    else:
        for cut in setting_cuts(lines, spec.section):
            row = cut.row
            while row > 0 and _COMMENT.match(lines[row - 1]):
                row -= 1
            yield replace(cut, row=row, body_row=row)


def _with_short_joined(sections: Sequence[_Section], file_name: str) -> Iterator[_Section]:
    """Join short sections that follow each other."""
    for is_short, group in groupby(sections, lambda section: section.end - section.row < _SHORT_ROWS):
        members = list(group)
        if is_short and len(members) > 1:
            yield _Section((file_name,), members[0].row, members[0].row, members[-1].end)
        else:
            yield from members


def lines_of(source: bytes) -> tuple[list[str], list[int]]:
    """Return the lines of a file, and the byte where each begins, followed by the one where the next would begin."""
    raw = source.split(b"\n")
    starts = accumulate((len(line) + 1 for line in raw), initial=0)
    return [line.decode("utf-8", "replace").rstrip("\r").lstrip("\ufeff") for line in raw], list(starts)


def parts_of(lines: Sequence[str], starts: Sequence[int], row: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut rows into parts of about `_PART_BYTES`; yield the first row and the row after the last."""
    most = _PART_BYTES * 5 // 4  # With some tolerance, no part is very short.
    while end - row > 1 and starts[end] - starts[row] > most:
        behind = max(bisect_right(starts, starts[row] + _PART_BYTES) - 1, row + 1)
        best = max(range((row + behind) // 2 + 1, behind + 1), key=lambda place: _fitness(lines, place))
        yield row, best
        row = best
    yield row, end


def _fitness(lines: Sequence[str], row: int) -> tuple[bool, int, int]:
    """Order rows by how well a part begins there: after a blank line, then little indented, then late."""
    line = lines[row]
    return not lines[row - 1].strip(), len(line.lstrip()) - len(line), row


def _plain(title: str) -> str:
    """Return a heading without its markup, cut if it is very long.

    >>> _plain("The [`Client`](api.md#client) class {#client}")
    'The Client class'
    """
    text = _MARKS.sub("", _LINK.sub(r"\1", title[:_MAX_SIGNATURE]))
    return " ".join(text.split())[:_MAX_TITLE]


def front_matter_end(lines: Sequence[str]) -> int:
    """Return the first row after the front matter of a Markdown file; 0 if it has none."""
    head = [line.rstrip() for line in lines[:_MAX_FRONT_MATTER]]
    # A blank line below the mark means that it is a horizontal rule.
    if len(head) < 2 or head[0] not in _FRONT_MATTER or not head[1]:
        return 0
    return next((row + 1 for row, line in enumerate(head) if row and line in (head[0], "...")), 0)


def markdown_cuts(lines: Sequence[str]) -> Iterator[Cut]:
    """Find the headings of a Markdown file."""
    closing = ""
    paragraph_rows = 0
    for row in range(front_matter_end(lines), len(lines)):
        line = lines[row]
        if closing:
            closing = "" if _closes(line, closing) else closing
        elif paragraph_rows == 1 and _UNDERLINE.match(line):
            yield Cut(row - 1, row + 1, lines[row - 1].strip(), 1 if "=" in line else 2)
            paragraph_rows = 0
        else:
            if heading := _heading(line):
                yield Cut(row, row + 1, heading[1], heading[0])
            closing = _opens(line)
            paragraph_rows = 0 if closing or _NO_PARAGRAPH.match(line) else paragraph_rows + 1


def _heading(line: str) -> tuple[int, str] | None:
    """Return the level and the title of a heading of one line."""
    if match := _ATX.match(line):
        return len(match[1]), _CLOSING_MARKS.sub("", match[2] or "").strip()
    if match := _HTML.match(line):
        return int(match[1]), match[2].strip()
    return None


def _opens(line: str) -> str:
    """Return the mark that closes the code block or comment which begins in a line; "" if none begins."""
    if match := _FENCE.match(line):
        return match[1]
    return "-->" if line.lstrip().startswith("<!--") and "-->" not in line else ""


def _closes(line: str, closing: str) -> bool:
    if closing == "-->":
        return closing in line
    text = line.strip(" \t>")
    return text.startswith(closing) and not text.strip(closing[0])


def underlined_cuts(lines: Sequence[str]) -> Iterator[Cut]:
    """Find the headings of reStructuredText or plain text; the first style seen is the outermost level."""
    styles: list[tuple[str, bool]] = []
    for row in range(1, len(lines)):
        title, underline = lines[row - 1].rstrip(), lines[row].rstrip()
        if not _is_underlined(title, underline):
            continue
        above = lines[row - 2].rstrip() if row > 1 else ""
        overlined = above == underline
        if above and not overlined or title.startswith(" ") and not overlined:
            continue
        style = (underline[0], overlined)
        if style not in styles:
            styles.append(style)
        yield Cut(row - 1 - overlined, row + 1, title.strip(), styles.index(style) + 1)


def _is_underlined(title: str, underline: str) -> bool:
    if not _ADORNMENT.match(underline) or len(underline) < min(len(title), _LONG_ADORNMENT):
        return False
    return any(map(str.isalnum, title)) and not title.startswith((">>>", "..."))


def setting_cuts(lines: Sequence[str], section: str) -> Iterator[Cut]:
    """Find the sections of a configuration file: lines that match and are indented like the first of them."""
    pattern, first_indentation = re.compile(section), None
    for row, line in enumerate(lines if section else ()):
        if match := pattern.match(line):
            indentation, *titles = match.groups()
            first_indentation = indentation if first_indentation is None else first_indentation
            if indentation == first_indentation:
                yield Cut(row, row, next(filter(None, reversed(titles))).replace('"', "").strip())
