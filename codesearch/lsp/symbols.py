"""Definitions -> the symbols of an editor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lsprotocol import types

from codesearch.lsp.positions import Units, range_in, range_of
from codesearch.lsp.texts import text_of
from codesearch.parsing.docstrings import first_sentence
from codesearch.structure.buffers import parsed
from codesearch.structure.navigation import Span, name_in
from codesearch.structure.whole import nested
from codesearch.types import Definition, Document, Hit
from codesearch.visible import encodable

_KINDS = {
    "trait": types.SymbolKind.Interface,
    "type": types.SymbolKind.Class,
    "prototype": types.SymbolKind.Function,
    "section": types.SymbolKind.String,
    "setting": types.SymbolKind.Property,
}
"""Kinds that the protocol does not have."""


def kind_of(definition: Definition) -> types.SymbolKind:
    """Return the kind of the protocol."""
    return _KINDS.get(definition.kind) or types.SymbolKind[definition.kind.capitalize()]


def name_of(definition: Definition) -> str:
    """Return the name, or the kind if there is none, because editors refuse an empty name."""
    return encodable(definition.name) or definition.kind


def as_shown(hit: Hit, texts: Mapping[Path, str]) -> Hit:
    """Return a hit at the lines that its definition has in the editor, where the file may have changed."""
    path = Path(hit.root, hit.path)
    if path not in texts:
        return hit
    lines = text_of(path, texts).split("\n")
    if lines[hit.start_line - 1 : hit.end_line] == hit.code.split("\n"):
        return hit
    documents = parsed(path, texts[path]).documents
    same = [document for document in documents if document.qualified_name == hit.qualified_name]
    document = min(same, key=lambda document: abs(document.start_line - hit.start_line), default=None)
    if document is None:
        return hit
    first, last = document.start_line, document.end_line
    code = "\n".join(lines[first - 1 : last])
    return replace(hit, start_line=first, end_line=last, signature=document.signature, code=code, passages=())


def symbols_of(hit: Hit, units: Units) -> Iterator[types.SymbolInformation]:
    """Yield a hit, at its best passage, and its copies as symbols.

    The container is the definition around the hit, else the file.
    """
    around = hit.qualified_name.removesuffix(hit.name).rstrip(" .:#/>\\")
    lines = hit.code.split("\n")
    span = name_in(hit, lines, Path(hit.root, hit.path))
    if hit.passages:
        line = lines[hit.best_line - hit.start_line]
        span = replace(span, line=hit.best_line, column=len(line) - len(line.lstrip()) + 1, size=0)
    places = [(hit.path, range_in(lines[span.line - hit.start_line], span, units))]
    for copy in hit.copies:
        path, _, number = copy.rpartition(":")
        places.append((path, range_in("", Span(Path(path), int(number), 1, 0), units)))
    for path, shown in places:
        location, container = types.Location(Path(hit.root, path).as_uri(), shown), encodable(around or path)
        yield types.SymbolInformation(location, name_of(hit), kind_of(hit), container_name=container)


def tree_of(definitions: Sequence[Document], text: str, units: Units) -> list[types.DocumentSymbol]:
    """Return the definitions of a file, in the order of the source, as a tree."""
    lines = text.split("\n")
    tree: list[types.DocumentSymbol] = []
    around: list[types.DocumentSymbol] = []
    for around_it, definition in nested(definitions):
        symbol = _document_symbol(definition, lines, units)
        del around[len(around_it) :]
        for outer in around:  # The lines of a section end where those of the sections in it begin.
            outer.range.end = max(outer.range.end, symbol.range.end)
        (around[-1].children if around else tree).append(symbol)  # type: ignore[union-attr]
        around.append(symbol)
    return tree


def _document_symbol(definition: Document, lines: Sequence[str], units: Units) -> types.DocumentSymbol:
    own = lines[definition.start_line - 1 : definition.last_line]
    name = name_in(definition, own, Path(definition.path))
    return types.DocumentSymbol(
        name=name_of(definition),
        detail=encodable(first_sentence(definition.docstring)),
        kind=kind_of(definition),
        range=range_of(definition.start_line, own, units),
        selection_range=range_in(own[name.line - definition.start_line], name, units),
        children=[],
    )
