"""Outlines, code and usages as lines of text, for a terminal and for agents."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codesearch.languages import record_of
from codesearch.search.forms import did_you_mean
from codesearch.types import HEADER_KINDS, Definition, Hit
from codesearch.visible import visible

if TYPE_CHECKING:
    from codesearch.structure.usages import Usage, Usages
    from codesearch.structure.whole import Reading

MAX_LINE = 200
"""Characters of a line that are shown if the output is no terminal."""
STALE = "  [changed since it was indexed]"
_SIGNATURES = 3  # With more definitions than this, they have no signatures
NUMBER = 6
_GUTTER = f"{{:{NUMBER}}} | "
_INDENT = 2


class Row(str):
    """A line of an answer, cut at a width. Its parts say what it has: about, place, name, more or code."""

    parts: dict[str, str]
    hit: Hit | None

    def __new__(cls, width: int = MAX_LINE, hit: Hit | None = None, **parts: str) -> Row:
        """Join the parts, in the order that they are given in; `hit` has the place or the code."""
        row = super().__new__(cls, cut("".join(parts.values()).rstrip(), width))
        row.parts = {name: cut(text, len(text)) for name, text in parts.items()}
        row.hit = hit
        return row


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an outline: a folder, a file, a definition, or "rest" for what was left out.

    `label` is a name, a signature or what was left out, and `summary` the first sentence of the documentation. A folder
    or file has `contents` definitions, of which `names` are the main ones. `code` is there if a definition is whole.
    `folded` counts what was left out, or if nothing in it is shown, what is in it.
    """

    depth: int
    kind: str
    label: str
    path: str
    summary: str = ""
    definition: Definition | None = None
    contents: int = 0
    names: tuple[str, ...] = ()
    code: tuple[tuple[int, str], ...] = ()
    folded: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The shape of a place: the place itself, and then what is in it, in the order of paths and lines."""

    root: str
    entries: tuple[Entry, ...]

    @property
    def folded(self) -> int:
        """How many lines of code and definitions are left out."""
        lines = (
            entry.definition.last_line - entry.definition.start_line + 1 - len(entry.code)
            for entry in self.entries
            if entry.definition and entry.code
        )
        return sum(lines) + sum(entry.folded for entry in self.entries)


def _below_root(root: str, path: str) -> str:
    return visible(path)


def outline_lines(
    outline: Outline, width: int = MAX_LINE, path_of: Callable[[str, str], str] = _below_root
) -> Iterator[str]:
    """Yield the lines of an outline, each with at most `width` characters."""
    has_lines = any(entry.definition for entry in outline.entries)
    widths = _label_widths(outline)
    for entry in outline.entries:
        if entry.definition and not entry.depth:
            yield Row(width, place=path_of(outline.root, entry.path))
        elif not entry.depth and entry.path and entry.kind in ("folder", "file"):
            end = "/" if entry.kind == "folder" else ""
            entry = replace(entry, label=f"{path_of(outline.root, entry.path)}{end}")
        number = f"{entry.definition.start_line:{NUMBER}}  " if entry.definition else " " * (NUMBER + 2)
        begin = number if entry.definition or (has_lines and entry.depth) else ""
        indent = " " * (_INDENT * entry.depth)
        if not entry.code:
            yield Row(width, None, about=begin, **_entry_parts(entry, indent, widths.get(entry.depth, 0)))
        elif entry.definition:
            first, last = entry.definition.start_line, entry.definition.last_line
            yield from numbered_lines(entry.code, first, last, width=width)


def _label_widths(outline: Outline) -> dict[int, int]:
    """Return how wide the names of folders and files are at each depth, so that what follows is aligned."""
    widths: dict[int, int] = {}
    for entry in outline.entries:
        if entry.kind in ("folder", "file") and entry.depth:
            widths[entry.depth] = max(widths.get(entry.depth, 0), len(entry.label))
    return widths


def _entry_parts(entry: Entry, indent: str, label_width: int) -> dict[str, str]:
    if entry.kind == "rest":
        return {"more": f"{indent}({entry.label})"}
    names = ", ".join(entry.names)
    if entry.folded > len(entry.names):
        count = counted(entry.folded, "definition")
        names = f"{count}: {names}" if names else count
    is_place = entry.kind in ("folder", "file")
    more = " ".join(filter(None, (entry.summary, f"({names})" if names else "")))
    label = entry.label.ljust(label_width) if is_place and more else entry.label
    return {"place" if is_place else "name": indent + label, "more": more and f"  {more}"}


def numbered_lines(
    lines: Iterable[tuple[int, str]], first: int, last: int, gutter: str = _GUTTER, width: int = MAX_LINE
) -> Iterator[str]:
    """Yield lines with their numbers; a line says which ones between the first and the last are not there."""
    following = first
    for number, text in [*lines, (last + 1, "")]:
        if number > following:
            left_out = f"line {following}" if number == following + 1 else f"lines {following}-{number - 1}"
            yield Row(width, about=f"{' ' * len(gutter.format(0))}… {left_out}")
        if number <= last:
            yield Row(width, about=gutter.format(number), code=text)
        following = number + 1


def reading_lines(reading: Reading, path: str, gutter: str = _GUTTER, width: int = MAX_LINE) -> Iterator[str]:
    """Yield path, lines, name and kind of a place, and its code with numbers."""
    of, first, last = reading.definition, reading.first_line, reading.last_line
    name, kind = (f"  {short_name(of)}", f"  {shown_kind(of)}") if of else ("", "")
    yield Row(
        sys.maxsize, place=f"{path}:{first}-{last}", name=visible(name), more=f"{kind}{STALE * reading.stale}"
    )
    yield from numbered_lines(reading.lines, first, last, gutter, width)


def short_name(of: Definition) -> str:
    """Return the qualified name without namespaces that the path has too; the class of a member stays."""
    kept = 1 if of.kind in HEADER_KINDS else 2
    return without_folders(of.qualified_name, of.path, record_of(of.language).separator, kept)


def shown_kind(of: Definition) -> str:
    """Return the kind for people: not every language calls the other statements of a file a module."""
    return "code" if of.kind == "module" else of.kind


def without_folders(name: str, path: str, separator: str = ".", kept: int = 2) -> str:
    """Return a qualified name without namespaces that the path has too; the last parts stay."""
    parts, folders = name.split(separator), path.casefold().replace(".", "/").split("/")
    while len(parts) > kept and parts[0].casefold() in folders:
        parts.pop(0)
    return separator.join(parts)


def marks_of(hit: Hit) -> str:
    """Return how many copies a hit has, and whether its file changed."""
    copies = f"  +{hit.copy_count:,} cop{'y' if hit.copy_count == 1 else 'ies'}" if hit.copy_count else ""
    return f"{copies}{STALE * hit.stale}"


def after_name(of: Definition) -> str:
    """Return what a signature says after the name; the kind if that is nothing."""
    # The class before the name of a constructor is not meant.
    match = re.search(rf"{re.escape(of.name)}(?!\w|::)", of.signature) if of.name else None
    rest = of.signature[match.end() :].rstrip(" :{=") if match else ""
    return rest.lstrip(" {=" if of.kind in HEADER_KINDS else " :{=") or of.kind


def cut(line: str, width: int) -> str:
    """Return the first characters of a line; control characters and invisible ones, except tabs, become escapes."""
    shown = "\t".join(map(visible, line[: width + 1].split("\t")))
    return shown if len(line) <= width else f"{shown[: width - 1]}…"


def usages_lines(
    usages: Usages,
    width: int = MAX_LINE,
    path_of: Callable[[str, str], str] = _below_root,
    gutter: str = _GUTTER,
) -> Iterator[str]:
    """Yield definitions, those with the name as a base, and usages by grade, file and the definition around them."""
    listed = [f"{defined.path}:{defined.start_line}" for defined in usages.definitions]
    marked = {place for usage in usages.usages if len(usage.may_be) < len(listed) for place in usage.may_be}
    marks = {place: f"[{number}]" for number, place in enumerate(listed, 1) if place in marked}
    if usages.not_in and usages.usage_count:
        yield Row(width, about=owner_note(usages))
    if usages.definitions and usages.usage_count:
        yield Row(width, about=usages_conclusion(usages))
    yield from _defined_lines(usages, marks, width, path_of)
    yield from listed_lines(
        usages.usages,
        width,
        path_of,
        gutter,
        lambda usage: _about(usage, len(listed), marks),
        usages.name.rpartition(".")[2],
    )


def listed_lines(
    usages: Iterable[Usage],
    width: int = MAX_LINE,
    path_of: Callable[[str, str], str] = _below_root,
    gutter: str = _GUTTER,
    about: Callable[[Usage], str] = lambda usage: STALE if usage.stale else "",
    name: str = "",
) -> Iterator[str]:
    """Yield lines of code, with some name in sight, below their grade, their file and the definition around them."""
    grade, before, inside = "", None, None
    for usage in usages:
        heading = (
            f"{usage.grade}{', in tests and other code' if usage.other_code else ''}:" if usage.grade else ""
        )
        if grade != heading:
            grade, before = heading, None
            yield ""
            yield Row(width, name=heading)
        if before != (usage.root, usage.path, usage.may_be):
            before, inside = (usage.root, usage.path, usage.may_be), None
            yield Row(width, place=path_of(usage.root, usage.path), more=about(usage))
        outer = None if usage.inside and usage.inside.kind == "module" else usage.inside
        owner = outer and short_name(outer)
        if owner != inside:
            inside = owner
            if outer is None or outer.start_line != usage.line:
                yield Row(width, name=f"  {owner or '(outside of definitions)'}")
        number = gutter.format(usage.line)
        yield Row(width, about=number, code=_in_sight(usage.text, name, width - len(number)))


def _in_sight(text: str, name: str, width: int) -> str:
    """Return a text, without its beginning if the name would else be cut away.

    >>> _in_sight("first(second(third))", "third", 12), _in_sight("first(second(third))", "first", 12)
    ('…cond(third))', 'first(second(third))')
    """
    is_cut = len(text) > width and text.find(name) + len(name) >= width
    return f"…{text[text.find(name) - width // 2 + 1 :]}" if is_cut else text


def _about(usage: Usage, definitions: int, marks: Mapping[str, str]) -> str:
    """Return which of several definitions a usage can mean, and whether its file changed."""
    means = ", ".join(marks.get(place, place) for place in usage.may_be)
    means = f"  = {means}" if means and len(usage.may_be) < definitions else ""
    return f"{means}{STALE if usage.stale else ''}"


def _defined_lines(
    usages: Usages, marks: Mapping[str, str], width: int, path_of: Callable[[str, str], str]
) -> Iterator[str]:
    """Yield the lines of definitions with their marks, and of those with the name as a base."""
    listed = ((usages.definitions, usages.definition_count), (usages.derived, usages.derived_count))
    for definitions, count in listed:
        if definitions is usages.derived and definitions:
            name, first = usages.name, definitions[0]
            of_type = f"has all methods of {name}:" if first.language == "go" else f"derives from {name}:"
            yield ""
            yield Row(width, name=f"overrides {name}:" if first.kind == "method" else of_type)
        has_signatures = definitions is usages.definitions and len(definitions) <= _SIGNATURES
        before = ("", "")
        for defined in definitions:
            mark = marks.get(f"{defined.path}:{defined.start_line}", "")
            place = f"{path_of(defined.root, defined.path)}:{defined.start_line}"
            name = short_name(defined)
            # Parameters tell overloads apart; a dot stands for the class of the row above.
            what = shown_kind(defined) if has_signatures else visible(after_name(defined))
            owner = defined.path, name.removesuffix(defined.name)
            if owner[1].endswith(".") and owner == before and not has_signatures:
                name = f".{defined.name}"
            before = owner
            parts = (what, mark) if has_signatures else (mark, what)
            rest = "".join(f"  {part}" for part in parts if part)
            yield Row(width, place=place, name=f"  {name}", more=rest)
            if has_signatures:
                yield Row(width, about=f"{'':{NUMBER}} | ", code=defined.signature)
        if more := count - len(definitions):
            yield f"({counted(more, 'more definition')})"


def owner_note(usages: Usages) -> str:
    """Say that the class that was given has no such member."""
    name, owner = visible(usages.name), visible(usages.not_in)
    return f"{owner} does not define {name}: these are all lines with the name"


def usages_conclusion(usages: Usages) -> str:
    """Return in one line what is sure about the usages of a definition."""
    name = visible(usages.name)
    good = sum(usages.grades.get(grade, 0) for grade in ("certain", "likely"))
    rest = usages.usage_count - good
    if not good:
        return f"no line certainly uses {name}; {counted(rest, 'line')} {'has' if rest == 1 else 'have'} the word"
    others = f", {usages.used_elsewhere:,} in tests and the like" if usages.used_elsewhere else ""
    lines, files = counted(good, "line"), counted(usages.used_files, "file")
    possible = usages.grades.get("possible", 0)
    rest_of = f"{possible:,} more may use it" if possible else "nothing else is likely"
    return f"{lines} in {files} {'uses' if good == 1 else 'use'} {name}{others}; {rest_of}"


def usages_summary(
    usages: Usages, all_code: str = "--all-code", shown: int | None = None, *, tests: bool = False
) -> str:
    """Return the numbers of usages in one line; `shown` are those that are shown, by default the listed ones."""
    name, owner = visible(usages.name), visible(usages.not_in)
    shown = len(usages.usages) if shown is None else shown
    if not usages.usage_count:
        text = f"no {'tests' if tests else 'usages'} of {name}"
        if owner:
            text += f": {owner} does not define it"
    else:
        grades = ", ".join(f"{count:,} {grade}" for grade, count in usages.grades.items())
        of = f"{shown:,} of " if 0 < shown < usages.usage_count else ""
        least = "at least " if usages.unread_files else ""
        lines, files = counted(usages.usage_count, "line"), counted(usages.file_count, "file")
        text = f"{of}{least}{lines} in {files}: {grades}"
    if usages.listed_count < usages.usage_count:
        text += f"; {all_code} adds the others"
    if usages.elsewhere:
        more = counted(usages.elsewhere, "more line")
        text += f"; {more} with {name} in another declaration or a longer name"
    if usages.unread_files:
        text += f"; {counted(usages.unread_files, 'more file')} may have it: narrow with a path"
    if usages.near:
        text += f": {visible(did_you_mean(usages.near))}"
    return text


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
