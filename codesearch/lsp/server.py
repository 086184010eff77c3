"""The language server: it reads and writes messages in an event loop, and calls the engine in threads.

So a request that the editor cancels is answered at once, and its thread ends later. One thread parses the files that
are open, and one indexes.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import JsonRPCNotification, LanguageServerProtocol
from pygls.uris import to_fs_path

import codesearch
from codesearch.build.build import Progress
from codesearch.engine.answer import Freshness, State
from codesearch.engine.engine import Engine
from codesearch.engine.indexer import PROGRESS_S, Pace
from codesearch.engine.revisions import Revision
from codesearch.engine.scope import Scope, covering_index, find_project, never_projects, not_indexed
from codesearch.engine.session import Policy
from codesearch.errors import CodeSearchError, ConfigError, index_command
from codesearch.parsing.decoding import decoded
from codesearch.parsing.docstrings import first_sentence
from codesearch.parsing.extract import Extraction
from codesearch.search.similar import extraction_of
from codesearch.search.snippets import head_of
from codesearch.structure.meaning import GRADES, SEVERAL
from codesearch.structure.usages import Usages
from codesearch.structure.whole import nested
from codesearch.types import Definition, Document, Hit
from codesearch.visible import encodable

T = TypeVar("T")
_USAGES = 1000
_WORD = re.compile(r"\w*$"), re.compile(r"^\w*")
"""What is before and behind the cursor in a name."""
_THREADS = 4
_CHECK_S = 1.0
"""Editors search at each keystroke. Files that other programs change are looked for once in this time."""
_REFRESH_S = 10.0
"""An update that takes longer shows progress when a folder is opened, and is not made when a file is saved."""
_CREATE_S = 2.0
"""An editor that takes longer to make room for a progress bar gets none."""
_KINDS = {
    "trait": types.SymbolKind.Interface,
    "type": types.SymbolKind.Class,
    "section": types.SymbolKind.String,
    "setting": types.SymbolKind.Property,
}
"""Kinds that the protocol does not have."""
Units = Callable[[str], int]
"""Counts the code units of a text: those of columns, by default of UTF-16."""


class Stopped(Exception):
    """The user cancelled indexing, or the editor ended."""


class Protocol(LanguageServerProtocol):
    """Answers a request that cannot be read with an error; pygls leaves it without an answer."""

    def structure_message(self, data: dict[str, Any]) -> Any:  # noqa: ANN401 - what pygls returns
        """Return the message in a JSON object."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            return JsonRPCNotification("$/unreadable", self.VERSION, None)


class Editor:
    """Answers one editor, for the folders that it has open.

    Each public method handles a message of the protocol.
    """

    def __init__(
        self, server: LanguageServer, engine: Engine, here: Path, *, auto_index: bool, min_confidence: float
    ) -> None:
        self.server, self._engine, self._here = server, engine, here
        self._auto_index, self._min_confidence = auto_index, min_confidence
        self._requests = ThreadPoolExecutor(_THREADS, "request")
        self._parsing = ThreadPoolExecutor(1, "parsing")
        self._indexing = ThreadPoolExecutor(1, "indexing")
        self._opened: dict[Path, asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pace = Pace(_CHECK_S)
        self._is_ended = False

    def open_folders(self, _: object) -> None:
        """Index the folders that the editor has opened, unless an index covers them."""
        for folder in self._folders():
            if folder not in self._opened:
                self._opened[folder] = self._start(self._open(folder))

    def saved(self, message: types.DidSaveTextDocumentParams) -> None:
        """Bring the index of a file up to date; the next search waits for that if it is quick."""
        self._pace.forget()
        with suppress(ConfigError):
            self._indexing.submit(self._refresh, _path_of(message.text_document.uri))

    async def symbols(self, message: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        """Find definitions by name, which may be typed in part, and by meaning."""
        scope = await self._scope()
        if scope is None or not any(map(str.isalnum, message.query)):
            return []
        policy = Policy(may_index=False, budget_s=self._pace.budget_s())

        def work() -> list[types.SymbolInformation]:
            session = self._engine.session(scope, policy)
            symbols: dict[tuple[str, int], types.SymbolInformation] = {}
            for hit in map(self._as_shown, session.symbols(message.query, self._min_confidence)):
                for symbol in _symbols_of(hit, self._units):
                    symbols.setdefault((symbol.location.uri, symbol.location.range.start.line), symbol)
            return list(symbols.values())

        return await self._run(self._requests, work)

    async def definitions(self, message: types.DefinitionParams) -> list[types.Location]:
        """Return the definitions that the name at the cursor can mean."""
        return self._defined(*await self._usages_at(message))

    def _defined(self, found: Usages | None, meant: set[str]) -> list[types.Location]:
        locations = []
        for one in found.definitions if found else ():
            if f"{one.path}:{one.start_line}" in meant:
                uri = Path(one.root, one.path).as_uri()
                lines = self._text_of(uri).split("\n")[one.start_line - 1 : one.last_line]
                locations.append(types.Location(uri, _name_range(one, lines, self._units)))
        return locations

    async def references(self, message: types.ReferenceParams) -> list[types.Location]:
        """Return the lines that use what the name at the cursor can mean, the best grade first, and say the grades."""
        found, meant = await self._usages_at(message)
        if found is None:
            return []
        usages = [one for one in found.usages if not one.may_be or not meant.isdisjoint(one.may_be)]
        usages = [one for one in usages if GRADES.index(one.grade) < SEVERAL]
        counts = Counter(one.grade for one in usages)
        grades = ", ".join(f"{count:,} {grade}" for grade, count in counts.items()) or "no usages"
        if found.usage_count > len(found.usages):
            grades += f", among the first {_USAGES:,} of {found.usage_count:,} lines"
        self._say(types.MessageType.Info, f"{found.name}: {grades} (text is matched, not types)")
        lines_of = cache(lambda uri: self._text_of(uri).split("\n"))
        locations = self._defined(found, meant) if message.context.include_declaration else []
        for one in usages:
            uri = Path(one.root, one.path).as_uri()
            before = "".join(lines_of(uri)[one.line - 1 : one.line])[: one.column - 1]
            start = types.Position(one.line - 1, self._units(before))
            end = types.Position(start.line, start.character + self._units(found.name))
            locations.append(types.Location(uri, types.Range(start, end)))
        return locations

    async def _usages_at(
        self, message: types.DefinitionParams | types.ReferenceParams
    ) -> tuple[Usages | None, set[str]]:
        """Return the usages of the name at the cursor, and the places of the definitions that it can mean there."""
        scope, uri, line = await self._scope(), message.text_document.uri, message.position.line + 1
        name = self.server.workspace.get_text_document(uri).word_at_position(message.position, *_WORD)
        if scope is None or not name:
            return None, set()
        policy = Policy(may_index=False, budget_s=self._pace.budget_s())

        def work() -> tuple[Usages, set[str]]:
            session, path = self._engine.session(scope, policy), _path_of(uri)
            found = session.usages(name, limit=_USAGES, all_code=True).found
            here = [one for one in found.usages if one.line == line and path == Path(one.root, one.path)]
            of_file = [one for one in found.definitions if path == Path(one.root, one.path)]
            around = [one for one in of_file if one.start_line <= line <= one.end_line]
            places = [f"{one.path}:{one.start_line}" for one in around[-1:] or found.definitions]
            return found, {*(here[0].may_be if here else ())} or {*places}

        return await self._run(self._requests, work)

    async def outline(self, message: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        """Return the definitions of a file as it is in the editor."""
        uri = message.text_document.uri

        def work() -> list[types.DocumentSymbol]:
            text, extraction = self._parsed(uri)
            definitions = sorted([*extraction.documents, *extraction.members], key=lambda one: one.start_byte)
            return _tree_of(definitions, text, self._units)

        return await self._run(self._parsing, work)

    def end(self, *_: object) -> None:
        """End what runs, as soon as it can be ended."""
        self._is_ended = True
        for threads in (self._requests, self._parsing, self._indexing):
            threads.shutdown(wait=False, cancel_futures=True)

    def _parsed(self, uri: str) -> tuple[str, Extraction]:
        """Return the text of a file as it is in the editor, and its definitions; none if its language is unknown."""
        text = "" if to_fs_path(uri) is None else self._text_of(uri)
        with suppress(ConfigError):
            return text, extraction_of(_path_of(uri), text, "all")
        return text, Extraction([], [])

    def _text_of(self, uri: str) -> str:
        """Return the text of a file as it is in the editor, else as it is saved."""
        document = self.server.workspace.get_text_document(uri)
        path = _path_of(uri)
        try:
            return decoded(document.source.encode("utf-8", "replace"), path.name).decode()
        except UnicodeDecodeError:  # Pygls reads UTF-8.
            return decoded(path.read_bytes(), path.name).decode("utf-8", "replace")
        except OSError as error:
            raise ConfigError(f"{path}: {error.strerror}") from None

    def _as_shown(self, hit: Hit) -> Hit:
        """Return a hit at the lines that its definition has in the editor, where the file may have changed."""
        path = Path(hit.root, hit.path)
        opened = self.server.workspace.text_documents.get(unquote(path.as_uri()))
        if opened is None:
            return hit
        lines = self._text_of(opened.uri).split("\n")
        if lines[hit.start_line - 1 : hit.end_line] == hit.code.split("\n"):
            return hit
        documents = self._parsed(opened.uri)[1].documents
        same = [one for one in documents if one.qualified_name == hit.qualified_name]
        one = min(same, key=lambda one: abs(one.start_line - hit.start_line), default=None)
        if one is None:
            return hit
        first, last = one.start_line, one.end_line
        code = "\n".join(lines[first - 1 : last])
        return replace(hit, start_line=first, end_line=last, signature=one.signature, code=code, passages=())

    @property
    def _units(self) -> Callable[[str], int]:
        return self.server.workspace.position_codec.client_num_units

    def _folders(self) -> list[Path]:
        """Return the folders that are open in the editor, else the project around the working directory."""
        workspace = self.server.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        if opened := [Path(path) for path in map(to_fs_path, uris) if path]:
            return opened
        if project := find_project(self._here):
            return [project]
        return [self._here] if covering_index(self._engine.home, self._here) else []

    async def _scope(self) -> Scope | None:
        """Wait until open folders are indexed; return those that are, or None if none is."""
        folders = self._folders()
        if tasks := [self._opened[folder] for folder in folders if folder in self._opened]:
            await asyncio.wait(tasks)  # This does not cancel them if the request is cancelled.
        covered = [folder for folder in folders if covering_index(self._engine.home, folder)]
        return Scope(within=covered) if covered else None

    async def _open(self, folder: Path) -> None:
        """Index a folder if that has to be done, and then update its index in the background."""
        self._loop = asyncio.get_running_loop()
        if await self._succeeds(partial(self._index, folder)):
            self._start(self._succeeds(partial(self._catch_up, folder)))

    async def _succeeds(self, work: Callable[[], None]) -> bool:
        """Call a function in the thread that indexes, and show its error."""
        try:
            await self._run(self._indexing, work)
            return True
        except JsonRpcException as error:
            self._say(types.MessageType.Warning, error.message)
            return False

    def _catch_up(self, folder: Path) -> None:
        """Update the index of a folder; show progress if that takes long."""
        refreshed = self._refresh(folder)
        if refreshed and refreshed.state == State.BEHIND:
            root = Path(refreshed.root)
            self._with_bar(root, partial(self._engine.index, root))

    def _index(self, folder: Path) -> None:
        """Index the project around a folder, unless an index covers it."""
        is_project = self._auto_index and find_project(folder)
        if not is_project and covering_index(self._engine.home, folder) is None:
            if folder.resolve() in never_projects(folder):
                return
            raise not_indexed(folder)
        policy = Policy(self._auto_index, None, self._with_bar)
        session = self._engine.session(Scope(within=(folder,)), policy)
        for error in filter(None, (entry.error for entry in session.entries)):
            raise error

    def _with_bar(self, root: Path | Revision, index: Callable[..., object]) -> None:
        """Index a folder in a thread, with a progress bar that has a button to cancel."""
        assert isinstance(root, Path)
        begun = asyncio.run_coroutine_threadsafe(self._begin(f"Indexing {root.name}"), self._loop)
        token = None
        with suppress(TimeoutError):  # The editor may have ended.
            token = begun.result(_CREATE_S + 1)
        try:
            index(on_progress=self._reporter(token))
        except Stopped:
            raise ConfigError("indexing was cancelled", f"run {index_command(root)}") from None
        finally:
            if token:
                end = self.server.work_done_progress.end
                self._loop.call_soon_threadsafe(end, token, types.WorkDoneProgressEnd())

    async def _begin(self, title: str) -> str | None:
        """Show a progress bar; return its token, or None if the editor cannot show one."""
        window = self.server.client_capabilities.window
        if not (window and window.work_done_progress):
            return None
        token, progress = str(uuid.uuid4()), self.server.work_done_progress
        try:
            await asyncio.wait_for(progress.create_async(token), _CREATE_S)
        except (JsonRpcException, TimeoutError):
            return None
        progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))
        return token

    def _reporter(self, token: str | None) -> Callable[[Progress], None]:
        """Return a function for the thread that indexes: it reports progress, and stops if the user cancelled."""
        loop, shown = self._loop, self.server.work_done_progress
        pace = Pace(PROGRESS_S)

        def report(progress: Progress) -> None:
            if self._is_ended or (token and shown.tokens[token].cancelled()):
                raise Stopped
            if token and pace.is_due():
                percentage = 100 * progress.done_bytes // max(progress.total_bytes, 1)
                message = f"{progress.documents:,} definitions"
                news = types.WorkDoneProgressReport(message=message, percentage=percentage)
                loop.call_soon_threadsafe(shown.report, token, news)

        return report

    def _refresh(self, path: Path) -> Freshness | None:
        """Bring the index that covers a path up to date, unless that takes long; the next search reports an error."""
        self._engine.tidy()
        entry = covering_index(self._engine.home, path)
        if entry and entry.manifest:
            with suppress(CodeSearchError):
                return self._engine.refresh(entry.manifest.root, budget_s=_REFRESH_S)
        return None

    def _say(self, severity: types.MessageType, text: str) -> None:
        self.server.window_show_message(types.ShowMessageParams(severity, f"codesearch: {text}"))

    def _start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Start a task; the event loop itself would not keep it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(threads, work)
        except (CodeSearchError, ValueError, OSError) as error:
            text = " ".join(str(error).split())
            raise JsonRpcException(text, types.LSPErrorCodes.RequestFailed) from None


def run(engine: Engine, here: Path, *, auto_index: bool, min_confidence: float = 0.0) -> None:
    """Answer an editor over stdin and stdout until it says `exit` or closes stdin."""
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not mix with the messages.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    editor = make_editor(engine, here, auto_index=auto_index, min_confidence=min_confidence)
    editor.server.start_io(stdout=messages)
    editor.end()


def make_editor(engine: Engine, here: Path, *, auto_index: bool, min_confidence: float) -> Editor:
    """Make a server that calls an `Editor` for each message."""
    # An error that a request answers is not logged too: editors show what is on stderr.
    logging.getLogger("pygls").setLevel(logging.CRITICAL)
    server = LanguageServer("codesearch", codesearch.__version__, protocol_cls=Protocol)
    editor = Editor(server, engine, here, auto_index=auto_index, min_confidence=min_confidence)
    features: dict[str, Callable[..., Any]] = {
        types.INITIALIZED: editor.open_folders,
        types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: editor.open_folders,
        types.TEXT_DOCUMENT_DID_SAVE: editor.saved,
        types.WORKSPACE_SYMBOL: editor.symbols,
        types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: editor.outline,
        types.TEXT_DOCUMENT_DEFINITION: editor.definitions,
        types.TEXT_DOCUMENT_REFERENCES: editor.references,
        types.SHUTDOWN: editor.end,
    }
    for method, handle in features.items():  # Pygls sets attributes, which a method cannot have.
        server.feature(method)(partial(handle))
    return editor


def _path_of(uri: str) -> Path:
    path = to_fs_path(uri)
    if not path:
        raise ConfigError(f"{uri} is not a file", "save it first")
    return Path(path)


def _symbols_of(hit: Hit, units: Units) -> Iterator[types.SymbolInformation]:
    """Yield a hit, at its best passage, and its copies as symbols.

    The container is the definition around the hit, else the file.
    """
    around = hit.qualified_name.removesuffix(hit.name).rstrip(" .:#/>\\")
    lines = hit.code.split("\n")
    shown = _name_range(hit, lines, units)
    if hit.passages:
        row = hit.best_line - 1
        line = lines[row - hit.start_line + 1]
        at = types.Position(row, units(line[: len(line) - len(line.lstrip())]))
        shown = types.Range(at, at)
    places = [(hit.path, shown)]
    for copy in hit.copies:
        path, _, line = copy.rpartition(":")
        start = types.Position(int(line) - 1, 0)  # The column is not known.
        places.append((path, types.Range(start, start)))
    for path, shown in places:
        location, container = types.Location(Path(hit.root, path).as_uri(), shown), encodable(around or path)
        yield types.SymbolInformation(location, _name(hit), _kind(hit), container_name=container)


def _tree_of(definitions: Sequence[Document], text: str, units: Units) -> list[types.DocumentSymbol]:
    lines = text.split("\n")
    tree: list[types.DocumentSymbol] = []
    around: list[types.DocumentSymbol] = []
    for around_it, one in nested(definitions):
        symbol = _document_symbol(one, lines, units)
        del around[len(around_it) :]
        for outer in around:  # The lines of a section end where those of the sections in it begin.
            outer.range.end = max(outer.range.end, symbol.range.end)
        (around[-1].children if around else tree).append(symbol)  # type: ignore[union-attr]
        around.append(symbol)
    return tree


def _document_symbol(one: Document, lines: Sequence[str], units: Units) -> types.DocumentSymbol:
    first, last = lines[one.start_line - 1], lines[one.last_line - 1].rstrip()
    return types.DocumentSymbol(
        name=_name(one),
        detail=encodable(first_sentence(one.docstring)),
        kind=_kind(one),
        range=types.Range(
            types.Position(one.start_line - 1, units(first[: len(first) - len(first.lstrip())])),
            types.Position(one.last_line - 1, units(last)),
        ),
        selection_range=_name_range(one, lines[one.start_line - 1 : one.last_line], units),
        children=[],
    )


def _kind(one: Definition) -> types.SymbolKind:
    return _KINDS.get(one.kind) or types.SymbolKind[one.kind.capitalize()]


def _name(one: Definition) -> str:
    return encodable(one.name) or one.kind  # Editors refuse an empty name.


def _name_range(one: Definition, lines: Sequence[str], units: Units) -> types.Range:
    """Return where a definition has its name; an empty range at its beginning if it does not have it."""
    head = head_of(lines, one.signature)
    name = re.compile(rf"(?<!\w){re.escape(one.name)}(?!\w)")
    matches = ((number, name.search(lines[number])) for number in head if number < len(lines))
    number, found = next(((number, match) for number, match in matches if match), (head.start, None))
    line = lines[number]
    start, end = found.span() if found else (len(line) - len(line.lstrip()),) * 2
    row = one.start_line - 1 + number
    return types.Range(types.Position(row, units(line[:start])), types.Position(row, units(line[:end])))
