"""Answers to the requests of an editor, for the folders that it has open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from codesearch.engine.engine import Engine
from codesearch.errors import CodeSearchError, ConfigError
from codesearch.lsp.folders import Folders, run_in
from codesearch.lsp.positions import Positions, Units
from codesearch.lsp.symbols import as_shown, kind_of, name_of, symbols_of, tree_of
from codesearch.lsp.texts import open_texts, text_of
from codesearch.parsing.docstrings import first_paragraph
from codesearch.structure.buffers import parsed
from codesearch.structure.meaning import Names
from codesearch.structure.navigation import Call, Navigation, Span
from codesearch.structure.text import counted
from codesearch.structure.usages import Defined
from codesearch.types import FUNCTIONS

T = TypeVar("T")
_THREADS = 4
At = types.TextDocumentPositionParams
Find = Callable[[Navigation, Names, Positions], T]
"""Answers with what the name at the cursor means."""


class Features:
    """Answers one editor. A public method handles a request; None says that another server may know more."""

    def __init__(
        self, server: LanguageServer, engine: Engine, folders: Folders, min_confidence: float
    ) -> None:
        self._server, self._engine, self._folders = server, engine, folders
        self._min_confidence = min_confidence
        self._requests = ThreadPoolExecutor(_THREADS, "request")

    async def symbols(self, message: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        """Find definitions by name, which may be typed in part, and by meaning."""
        scope = await self._folders.scope()
        if scope is None or not any(map(str.isalnum, message.query)):
            return []
        policy, texts, units = self._folders.policy(), open_texts(self._server.workspace), self._units

        def work() -> list[types.SymbolInformation]:
            hits = self._engine.session(scope, policy).symbols(message.query, self._min_confidence)
            symbols: dict[tuple[str, int], types.SymbolInformation] = {}
            for hit in hits:
                for symbol in symbols_of(as_shown(hit, texts), units):
                    symbols.setdefault((symbol.location.uri, symbol.location.range.start.line), symbol)
            return list(symbols.values())

        return await run_in(self._requests, work)

    async def outline(self, message: types.DocumentSymbolParams) -> list[types.DocumentSymbol] | None:
        """Return the definitions of a file as it is in the editor."""
        if (name := to_fs_path(message.text_document.uri)) is None:
            return None
        path, texts, units = Path(name), open_texts(self._server.workspace), self._units

        def work() -> list[types.DocumentSymbol] | None:
            text = text_of(path, texts)
            try:
                extraction = parsed(path, texts.get(path, text))
            except ConfigError:  # Its language is unknown.
                return None
            definitions = [*extraction.documents, *extraction.members]
            definitions.sort(key=lambda definition: definition.start_byte)
            return tree_of(definitions, text, units)

        return await run_in(self._requests, work)

    async def definitions(self, message: At) -> list[types.Location] | None:
        """Return the definitions that the name at the cursor means."""
        return await self._at(message, partial(_located, Navigation.definitions))

    async def implementations(self, message: At) -> list[types.Location] | None:
        """Return the types that derive from the one at the cursor, or the methods that override it."""
        return await self._at(message, partial(_located, Navigation.derived))

    async def references(self, message: types.ReferenceParams) -> list[types.Location] | None:
        """Return where the name at the cursor is meant; a message says how many more lines are only possible."""

        def find(
            navigation: Navigation, names: Names, positions: Positions
        ) -> tuple[list[types.Location], str, int]:
            spans, possible = navigation.usages(names)
            if message.context.include_declaration:
                spans = [*(span for _, span in navigation.definitions(names)), *spans]
            return list(map(positions.location, spans)), names.name, possible

        answer = await self._at(At(message.text_document, message.position), find)
        if answer and answer[2]:
            _, name, possible = answer
            more = f"{counted(possible, 'more line')} may use {name}"
            self._folders.say(
                types.MessageType.Info, f"{more}: `codesearch usages {name} --all-code` lists all"
            )
        return answer and answer[0]

    async def highlights(self, message: At) -> list[types.DocumentHighlight] | None:
        """Return where the file means the same as the name at the cursor."""
        path = to_fs_path(message.text_document.uri)

        def find(navigation: Navigation, names: Names, positions: Positions) -> list[types.DocumentHighlight]:
            return [
                types.DocumentHighlight(positions.range(span))
                for span in navigation.in_file(names, Path(path or ""))
            ]

        return await self._at(message, find, waits=False)

    async def hover(self, message: At) -> types.Hover | None:
        """Return the signature, the first paragraph of the documentation, and how often it is used."""

        def find(navigation: Navigation, names: Names, positions: Positions) -> types.Hover | None:
            named = navigation.definitions(names)
            if not named:  # Its file is gone.
                return None
            definition, _ = named[0]
            uses, tests = navigation.counts(names)
            noun = "call" if definition.kind in FUNCTIONS else "use"
            counts = f"{counted(uses, noun)}, {counted(tests, 'test') if tests else 'no tests'}"
            code = f"```{definition.language}\n{definition.signature}\n```"
            parts = (code, first_paragraph(definition.docstring), counts)
            return types.Hover(
                types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(filter(None, parts)))
            )

        return await self._at(message, find, waits=False)

    async def prepare_calls(self, message: At) -> list[types.CallHierarchyItem] | None:
        """Return the definitions at the cursor as the roots of a call hierarchy."""
        return await self._at(
            message,
            lambda navigation, names, positions: [
                _item(*named, positions) for named in navigation.definitions(names)
            ],
        )

    async def callers(
        self, message: types.CallHierarchyIncomingCallsParams
    ) -> list[types.CallHierarchyIncomingCall] | None:
        """Return what calls a definition."""
        return await self._at(
            _cursor(message.item), partial(_calls, types.CallHierarchyIncomingCall, Navigation.callers)
        )

    async def called(
        self, message: types.CallHierarchyOutgoingCallsParams
    ) -> list[types.CallHierarchyOutgoingCall] | None:
        """Return what a definition calls."""
        return await self._at(
            _cursor(message.item), partial(_calls, types.CallHierarchyOutgoingCall, Navigation.called)
        )

    def end(self) -> None:
        """End what runs, as soon as it can be ended."""
        self._requests.shutdown(wait=False, cancel_futures=True)

    @property
    def _units(self) -> Units:
        return self._server.workspace.position_codec.client_num_units

    async def _at(self, message: At, find: Find[T], *, waits: bool = True) -> T | None:
        """Answer with what the name at the cursor means; None if that is not known."""
        name, scope = to_fs_path(message.text_document.uri), await self._folders.scope(waits=waits)
        if name is None or scope is None:
            return None
        path, texts, policy, units = (
            Path(name),
            open_texts(self._server.workspace),
            self._folders.policy(),
            self._units,
        )

        def lines_of(path: Path) -> Sequence[str]:
            with suppress(CodeSearchError):
                return text_of(path, texts).split("\n")
            return ()

        def work() -> T | None:
            positions = Positions(lines_of, units)
            with self._engine.session(scope, policy).navigation(texts) as navigation:
                names = navigation.at(
                    path, message.position.line + 1, positions.column(path, message.position)
                )
                return find(navigation, names, positions) if names else None

        return await run_in(self._requests, work)


def _located(
    find: Callable[[Navigation, Names], list[tuple[Defined, Span]]],
    navigation: Navigation,
    names: Names,
    positions: Positions,
) -> list[types.Location] | None:
    return [positions.location(span) for _, span in find(navigation, names)] or None


def _calls(
    make: Callable[[types.CallHierarchyItem, list[types.Range]], T],
    find: Callable[[Navigation, Names], list[Call]],
    navigation: Navigation,
    names: Names,
    positions: Positions,
) -> list[T]:
    found = find(navigation, names)
    return [
        make(_item(definition, name, positions), list(map(positions.range, spans)))
        for definition, name, spans in found
    ]


def _item(definition: Defined, name: Span, positions: Positions) -> types.CallHierarchyItem:
    return types.CallHierarchyItem(
        name_of(definition),
        kind_of(definition),
        name.path.as_uri(),
        positions.lines(name.path, definition.start_line, definition.last_line),
        positions.range(name),
        detail=f"{definition.path}:{definition.start_line}",
    )


def _cursor(item: types.CallHierarchyItem) -> At:
    return At(types.TextDocumentIdentifier(item.uri), item.selection_range.start)
