"""The entries of an outline, and their lines of text for a terminal and for agents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codesearch.structure.text import MAX_LINE, NUMBER, cut
from codesearch.types import Definition

_INDENT = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an outline.

    Attributes:
        depth: how many entries are around it.
        kind: "folder", "file", one of `codesearch.types.KINDS`, or "rest" for what was left out.
        label: the name of a folder or file, the signature of a definition, or what was left out.
        path: relative to the root.
        summary: the first sentence of its documentation; "" without one.
        definition: None if it is no definition.
        contents: how many definitions a folder or a file has.
        names: main types or functions of a folder or file.
        code: number and text of each line, if the whole definition is shown.
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


@dataclass(frozen=True, slots=True)
class Outline:
    """The shape of a place.

    Attributes:
        root: the indexed folder, or the name of an index without one.
        entries: the place itself, and then what is in it, in the order of paths and lines.
    """

    root: str
    entries: tuple[Entry, ...]


def outline_lines(outline: Outline, width: int = MAX_LINE) -> Iterator[str]:
    """Yield the lines of an outline, each with at most `width` characters."""
    has_lines = any(entry.definition for entry in outline.entries)
    widths = _label_widths(outline)
    for entry in outline.entries:
        if entry.definition and not entry.depth:
            yield cut(entry.path, width)
        number = f"{entry.definition.start_line:{NUMBER}}  " if entry.definition else " " * (NUMBER + 2)
        begin = number if entry.definition or (has_lines and entry.depth) else ""
        indent = " " * (_INDENT * entry.depth)
        yield cut(f"{begin}{indent}{_entry_text(entry, widths.get(entry.depth, 0))}", width)
        for line, text in entry.code:
            yield cut(f"{line:{NUMBER}} | {text}".rstrip(), width)


def _label_widths(outline: Outline) -> dict[int, int]:
    """Return how wide the names of folders and files are at each depth, so that what follows is aligned."""
    widths: dict[int, int] = {}
    for entry in outline.entries:
        if entry.kind in ("folder", "file") and entry.depth:
            widths[entry.depth] = max(widths.get(entry.depth, 0), len(entry.label))
    return widths


def _entry_text(entry: Entry, label_width: int) -> str:
    if entry.kind == "rest":
        return f"({entry.label})"
    names = f"({', '.join(entry.names)})" if entry.names else ""
    is_place = entry.kind in ("folder", "file")
    label = entry.label.ljust(label_width) if is_place else entry.label
    return f"{label}  {' '.join(filter(None, (entry.summary, names)))}".rstrip()
