"""Definitions -> symbols and places of the language server protocol.

Its lines count from 0. Its columns count code units, by default of UTF-16.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from lsprotocol.types import DocumentSymbol, Location, Position, Range, SymbolInformation, SymbolKind

from codesearch.parsing.docstrings import first_sentence
from codesearch.search.snippets import head_of
from codesearch.structure.outline import with_depths
from codesearch.types import Definition, Document, Hit
from codesearch.visible import encodable

KINDS = {
    "function": SymbolKind.Function,
    "method": SymbolKind.Method,
    "class": SymbolKind.Class,
    "interface": SymbolKind.Interface,
    "enum": SymbolKind.Enum,
    "struct": SymbolKind.Struct,
    "trait": SymbolKind.Interface,
    "type": SymbolKind.Class,
    "constant": SymbolKind.Constant,
    "module": SymbolKind.Module,
    "section": SymbolKind.String,
    "setting": SymbolKind.Property,
}
Units = Callable[[str], int]
"""Counts the code units of a text."""


def location_of(hit: Hit, units: Units) -> Location:
    """Return where the name of a hit is."""
    return Location(Path(hit.root, hit.path).as_uri(), _name_range(hit, hit.code.split("\n"), units))


def symbols_of(hit: Hit, units: Units) -> Iterator[SymbolInformation]:
    """Yield a hit and its copies as symbols; the container is the definition around the hit, else the file."""
    around = hit.qualified_name.removesuffix(hit.name).rstrip(" .:#/>\\")
    for path, location in ((hit.path, location_of(hit, units)), *_copies(hit)):
        yield SymbolInformation(
            name=_name(hit), kind=KINDS[hit.kind], location=location, container_name=encodable(around or path)
        )


def _copies(hit: Hit) -> Iterator[tuple[str, Location]]:
    """Yield path and place of each copy; its column is not known."""
    for copy in hit.copies:
        path, _, line = copy.rpartition(":")
        at = Position(int(line) - 1, 0)
        yield path, Location(Path(hit.root, path).as_uri(), Range(at, at))


def tree_of(definitions: Sequence[Document], text: str, units: Units) -> list[DocumentSymbol]:
    """Return the definitions of a text as a tree."""
    lines = text.split("\n")
    tree: list[DocumentSymbol] = []
    around: list[DocumentSymbol] = []
    language = definitions[0].language if definitions else ""
    for depth, one in with_depths(definitions, language):
        symbol = _document_symbol(one, lines, units)
        del around[depth - 1 :]
        for outer in around:  # The lines of a section end where those of the sections in it begin.
            outer.range.end = max(outer.range.end, symbol.range.end)
        (around[-1].children if around else tree).append(symbol)  # type: ignore[union-attr]
        around.append(symbol)
    return tree


def _document_symbol(one: Document, lines: Sequence[str], units: Units) -> DocumentSymbol:
    first, last = lines[one.start_line - 1], lines[one.last_line - 1].rstrip()
    return DocumentSymbol(
        name=_name(one),
        detail=encodable(first_sentence(one.docstring)),
        kind=KINDS[one.kind],
        range=Range(
            Position(one.start_line - 1, units(first[: len(first) - len(first.lstrip())])),
            Position(one.last_line - 1, units(last)),
        ),
        selection_range=_name_range(one, lines[one.start_line - 1 : one.last_line], units),
        children=[],
    )


def _name(one: Definition) -> str:
    return encodable(one.name) or one.kind  # Editors refuse an empty name.


def _name_range(one: Definition, lines: Sequence[str], units: Units) -> Range:
    """Return where a definition has its name; an empty range at its beginning if it does not have it."""
    head = head_of(lines, one.signature)
    name = re.compile(rf"(?<!\w){re.escape(one.name)}(?!\w)")
    matches = ((number, name.search(lines[number])) for number in head if number < len(lines))
    number, found = next(((number, match) for number, match in matches if match), (head.start, None))
    line = lines[number]
    start, end = found.span() if found else (len(line) - len(line.lstrip()),) * 2
    row = one.start_line - 1 + number
    return Range(Position(row, units(line[:start])), Position(row, units(line[:end])))
