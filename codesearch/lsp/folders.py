"""Folders that an editor has open: they are indexed with a progress bar, and kept up to date."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from codesearch.build.build import Progress
from codesearch.engine.answer import Freshness, State
from codesearch.engine.engine import Engine
from codesearch.engine.indexer import PROGRESS_S, Pace
from codesearch.engine.revisions import Revision
from codesearch.engine.scope import Scope, covering_index, find_project, never_projects, not_indexed
from codesearch.engine.session import Policy
from codesearch.errors import CodeSearchError, ConfigError, index_command
from codesearch.lsp.positions import path_of

T = TypeVar("T")
_CHECK_S = 1.0
"""Editors search at each keystroke. Files that other programs change are looked for once in this time."""
_REFRESH_S = 10.0
"""An update that takes longer shows progress when a folder is opened, and is not made when a file is saved."""
_CREATE_S = 2.0
"""An editor that takes longer to make room for a progress bar gets none."""


class Stopped(Exception):
    """The user cancelled indexing, or the editor ended."""


async def run_in(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Call a function in a thread; its error answers the request."""
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, work)
    except (CodeSearchError, ValueError, OSError) as error:
        text = " ".join(str(error).split())
        raise JsonRpcException(text, types.LSPErrorCodes.RequestFailed) from None


class Folders:
    """Indexes the folders that an editor has open, in one thread."""

    def __init__(self, server: LanguageServer, engine: Engine, here: Path, *, auto_index: bool) -> None:
        self._server, self._engine, self._here, self._auto_index = server, engine, here, auto_index
        self._indexing = ThreadPoolExecutor(1, "indexing")
        self._opened: dict[Path, asyncio.Task[Any]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._pace = Pace(_CHECK_S)
        self._is_ended = False

    def open_folders(self, _: object) -> None:
        """Index the folders that the editor has opened, unless an index covers them."""
        for folder in self._all():
            if folder not in self._opened:
                self._opened[folder] = self._start(self._open(folder))

    def saved(self, message: types.DidSaveTextDocumentParams) -> None:
        """Bring the index of a file up to date; the next search waits for that if it is quick."""
        self._pace.forget()
        with suppress(ConfigError):
            self._indexing.submit(self._refresh, path_of(message.text_document.uri))

    def policy(self) -> Policy:
        """Return what a request may do first: files that other programs change are looked for now and then."""
        return Policy(may_index=False, budget_s=self._pace.budget_s())

    async def scope(self, *, waits: bool = True) -> Scope | None:
        """Return the open folders that are indexed, or None if none is; it `waits` until they are."""
        folders = self._all()
        tasks = [self._opened[folder] for folder in folders if folder in self._opened]
        if tasks and waits:
            await asyncio.wait(tasks)  # This does not cancel them if the request is cancelled.
        covered = [folder for folder in folders if covering_index(self._engine.local_home(), folder)]
        return Scope(within=covered) if covered else None

    def say(self, severity: types.MessageType, text: str) -> None:
        """Show a message."""
        self._server.window_show_message(types.ShowMessageParams(severity, f"codesearch: {text}"))

    def end(self) -> None:
        """End what runs, as soon as it can be ended."""
        self._is_ended = True
        self._indexing.shutdown(wait=False, cancel_futures=True)

    def _all(self) -> list[Path]:
        """Return the folders that are open in the editor, else the project around the working directory."""
        workspace = self._server.workspace
        uris = [folder.uri for folder in workspace.folders.values()] or [workspace.root_uri or ""]
        if opened := [Path(path) for path in map(to_fs_path, uris) if path]:
            return opened
        if project := find_project(self._here):
            return [project]
        return [self._here] if covering_index(self._engine.local_home(), self._here) else []

    async def _open(self, folder: Path) -> None:
        """Index a folder if that has to be done, and then update its index in the background."""
        self._loop = asyncio.get_running_loop()
        if await self._succeeds(partial(self._index, folder)):
            self._start(self._succeeds(partial(self._catch_up, folder)))

    async def _succeeds(self, work: Callable[[], None]) -> bool:
        """Call a function in the thread that indexes, and show its error."""
        try:
            await run_in(self._indexing, work)
            return True
        except JsonRpcException as error:
            self.say(types.MessageType.Warning, error.message)
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
        if not is_project and covering_index(self._engine.local_home(), folder) is None:
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
                end = self._server.work_done_progress.end
                self._loop.call_soon_threadsafe(end, token, types.WorkDoneProgressEnd())

    async def _begin(self, title: str) -> str | None:
        """Show a progress bar; return its token, or None if the editor cannot show one."""
        window = self._server.client_capabilities.window
        if not (window and window.work_done_progress):
            return None
        token, progress = str(uuid.uuid4()), self._server.work_done_progress
        try:
            await asyncio.wait_for(progress.create_async(token), _CREATE_S)
        except (JsonRpcException, TimeoutError):
            return None
        progress.begin(token, types.WorkDoneProgressBegin(title, cancellable=True, percentage=0))
        return token

    def _reporter(self, token: str | None) -> Callable[[Progress], None]:
        """Return a function for the thread that indexes: it reports progress, and stops if the user cancelled."""
        loop, shown = self._loop, self._server.work_done_progress
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
        entry = covering_index(self._engine.local_home(), path)
        if entry and entry.manifest:
            with suppress(CodeSearchError):
                return self._engine.refresh(entry.manifest.root, budget_s=_REFRESH_S)
        return None

    def _start(self, work: Coroutine[Any, Any, object]) -> asyncio.Task[Any]:
        """Start a task; the event loop itself would not keep it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
