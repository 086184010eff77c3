r"""Where the sections of documentation and configuration begin.

    # Markdown, and <h2>HTML</h2>          Setext, reStructuredText      =====
                                           and plain text                Title
                                           ----------------------        =====

Code blocks, comments and front matter have no headings. Tables, top-level keys, build stages and targets of
configuration files have sections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_CLOSING_MARKS = re.compile(r"(?:^|[ \t])#+[ \t]*$")
_HTML = re.compile(r"[ \t]*<h([1-6])\b[^>]*>(.*?)</h\1>", re.IGNORECASE)
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_NO_PARAGRAPH = re.compile(r" {4}|\t|[ \t]*(?:[-*+>|#<]|\d{1,9}[.)]\s|$)")
_FRONT_MATTER = frozenset({"---", "+++"})
_MAX_FRONT_MATTER = 200
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*$")
_LONG_ADORNMENT = 4
_TABLE = re.compile(r"([ \t]*)\[\[?\s*([^\s,\[\]][^,\[\]]*)\]\]?\s*(?:[#;].*)?$")
_PATTERNS = {
    "dockerfile": re.compile(r"([ \t]*)FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE),
    "ini": _TABLE,
    "json": re.compile(r"""([ \t]+)"([^"]+)"\s*:"""),
    "makefile": re.compile(r"()([\w$%/(][^:=#]*)::?(?![=:])"),
    "toml": _TABLE,
    "yaml": re.compile(r"""([ \t]*)["']?([^\s#"'\-{\[][^:#"']*)["']?:(?:\s|$)"""),
}
"""Language -> where a section begins; the first group is its indentation, the last one that matched its title."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The beginning of a section.

    Attributes:
        row: 0-based line of its heading.
        body_row: first line of its text; `row` if the heading is a part of the text.
        title: the heading as written, without the marks around it.
        level: 1 for the outermost; a section is inside the last one before it with a lower level.
    """

    row: int
    body_row: int
    title: str
    level: int = 1


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


def setting_cuts(lines: Sequence[str], language: str) -> Iterator[Cut]:
    """Find the sections of a configuration file: lines that match and are indented like the first of them."""
    if (pattern := _PATTERNS.get(language)) is None:
        return
    first_indentation = None
    for row, line in enumerate(lines):
        if match := pattern.match(line):
            indentation, *titles = match.groups()
            first_indentation = indentation if first_indentation is None else first_indentation
            if indentation == first_indentation:
                yield Cut(row, row, next(filter(None, reversed(titles))).replace('"', "").strip())
