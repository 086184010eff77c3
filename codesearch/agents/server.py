"""The MCP server: tools over stdio that call the engine in threads, so that the event loop is never blocked."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlparse
from urllib.request import url2pathname

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

import codesearch
from codesearch.agents.clients import INSTRUCTIONS
from codesearch.agents.text import definition_text, hits_text, places_text, relative, status_text
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope, covering_index, find_project
from codesearch.errors import CodeSearchError, ConfigError, IndexNotFoundError
from codesearch.index.build import Progress
from codesearch.options import options_of
from codesearch.search.request import Filters, Place, SearchRequest

T = TypeVar("T")
_ROOTS_TIMEOUT_S = 2.0
_PROGRESS_S = 0.2
_READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


class Agents:
    """Answers the tools for one project, the folder that they are confined to."""

    def __init__(self, engine: Engine, root: Path | None, here: Path, *, auto_index: bool) -> None:
        """Take the engine, the folder that the user named (or None) and the working directory."""
        self._engine = engine
        self._named = root
        self._here = here
        self._auto_index = auto_index
        self._project: Path | None = None
        self._lock = anyio.Lock()

    async def run(self, context: Context[Any, Any], work: Callable[[Path, str], T]) -> T:
        """Index the project if necessary, then call `work` with it and its indexed root, in a thread.

        Raises:
            ToolError: the engine cannot do it; one line with a cure.
        """
        try:
            async with self._lock:
                if self._project is None:
                    named = self._named or await _client_root(context) or self._here
                    self._project = (None if self._named else find_project(named)) or named.resolve()
                project = self._project
                root = await anyio.to_thread.run_sync(self._ready, project, context)
            return await anyio.to_thread.run_sync(work, project, root)
        except (CodeSearchError, ValueError) as error:
            raise ToolError(" ".join(str(error).split())) from None

    def _ready(self, project: Path, context: Context[Any, Any]) -> str:
        """Return the indexed root that covers the project; index the project if none does."""
        if covering_index(self._engine.home, project) is None:
            if not self._auto_index or not (self._named or find_project(project)):
                raise IndexNotFoundError(f"{project} is not indexed: run `codesearch index {project}`")
            self._engine.index_project(project, on_progress=_reporter(context))
        elif self._auto_index:
            for root in self._engine.outdated_roots(Scope(within=(project,))):
                self._engine.index(root, on_progress=_reporter(context))
        entry = covering_index(self._engine.home, project)
        if entry is None or entry.manifest is None:
            raise (entry and entry.error) or IndexNotFoundError(f"{project} is not indexed")
        return entry.manifest.root


def _reporter(context: Context[Any, Any]) -> Callable[[Progress], None]:
    """Return a function for a worker thread: it sends progress to the client, and stops if the call was cancelled."""
    last, sent = 0.0, 0.0

    def report(progress: Progress) -> None:
        nonlocal last, sent
        anyio.from_thread.check_cancelled()
        now = time.monotonic()
        done = float(progress.done_bytes)
        if now - last < _PROGRESS_S or done <= sent:  # The protocol wants values that increase.
            return
        last, sent = now, done
        message = f"indexing: {progress.documents} definitions"
        anyio.from_thread.run(context.report_progress, done, float(progress.total_bytes), message)

    return report


async def _client_root(context: Context[Any, Any]) -> Path | None:
    """Return the first folder that the client has open, if it says so."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    try:
        with anyio.fail_after(_ROOTS_TIMEOUT_S):
            listed = await context.session.list_roots()
    except Exception:  # Whatever a client answers, the working directory is the fallback.
        return None
    paths = [Path(url2pathname(urlparse(str(root.uri)).path)) for root in listed.roots]
    return next((path for path in paths if path.is_dir()), None)


def make_server(engine: Engine, root: Path | None, here: Path, *, auto_index: bool = True) -> MCPServer[Any]:
    """Make the server.

    Args:
        engine: answers.
        root: the project; None for the client's first root, else the project around `here`.
        here: working directory.
        auto_index: index a project that no index covers at the first call.
    """
    server: MCPServer[Any] = MCPServer(
        "codesearch", version=codesearch.__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    agents = Agents(engine, root, here, auto_index=auto_index)

    async def search_code(
        query: str,
        context: Context[Any, Any],
        path: str,
        language: str,
        kind: str,
        flat: bool,
        limit: int,
        snippet_lines: int,
    ) -> str:
        """Find files, functions and classes by meaning, keywords, name, path or message. Use it before grep."""

        def work(project: Path, _: str) -> str:
            languages, kinds, paths = ((one,) if one else () for one in (language, kind, path))
            filters = Filters(languages, kinds, paths, here=project)
            request = SearchRequest(query, _within("limit", limit), filters=filters, by_file=not flat)
            answer = engine.search(request, Scope(within=(project,)))
            return hits_text(answer, project, _within("snippet_lines", snippet_lines))

        return await agents.run(context, work)

    async def find_similar(place: str, context: Context[Any, Any], limit: int, snippet_lines: int) -> str:
        """Find code like the definition at path:line: duplicates, variants, other implementations."""

        def work(project: Path, root: str) -> str:
            asked = Place.parse(place)
            found = engine.document(root, _indexed_path(asked.path, project, root), asked.line)
            request = SearchRequest("", _within("limit", limit))
            answer = engine.similar(
                Place(Path(found.root, found.path), asked.line), request, Scope(within=(project,))
            )
            return hits_text(answer, project, _within("snippet_lines", snippet_lines))

        return await agents.run(context, work)

    async def read_definition(place: str, context: Context[Any, Any]) -> str:
        """Read one whole definition, by path:line (of a hit) or by name or qualified name, such as Stack.push."""

        def work(project: Path, root: str) -> str:
            return _definition(engine, project, root, place)

        return await agents.run(context, work)

    async def index_status(context: Context[Any, Any]) -> str:
        """Say what is indexed, what is not, and whether files changed since."""

        def work(project: Path, root: str) -> str:
            (status,) = engine.status(root, changes=True)
            return status_text(status, project)

        return await agents.run(context, work)

    for tool in (search_code, find_similar, read_definition, index_status):
        server.add_tool(_with_options(tool), annotations=_READ_ONLY, structured_output=False)
    return server


def _with_options(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Give the parameters of a tool the descriptions and defaults in the table of options."""
    options = options_of(tool.__name__)
    signature = inspect.signature(tool, eval_str=True)
    parameters = dict(signature.parameters)
    for name, option in options.items():
        text = option.help + (f" At most {option.high}." if option.high < inf else "")
        described = Annotated[option.kind, Field(description=text)]  # type: ignore[name-defined]
        default = inspect.Parameter.empty if option.required else option.default
        parameters[name] = parameters[name].replace(
            annotation=described, default=default, kind=inspect.Parameter.KEYWORD_ONLY
        )
    vars(tool)["__signature__"] = signature.replace(
        parameters=sorted(parameters.values(), key=lambda one: one.kind)
    )
    return tool


def _within(name: str, value: int) -> int:
    """Return the nearest value that an option of the tools allows."""
    option = options_of("search_code")[name]
    return int(max(option.low, min(value, option.high)))


def _definition(engine: Engine, project: Path, root: str, place: str) -> str:
    try:
        asked = Place.parse(place)
    except ConfigError:
        name = place.strip()
        places = [
            found for found in engine.places_named(root, name) if Path(root, found[0]).is_relative_to(project)
        ]
        if not places:
            raise IndexNotFoundError(
                f"no definition is named {name[:100]!r}: find it with search_code"
            ) from None
        if len(places) > 1:
            return places_text(
                [f"{relative(root, path, project)}:{line} {name}" for path, line, name in places]
            )
        path, line, _ = places[0]
    else:
        path, line = _indexed_path(asked.path, project, root), asked.line
    return definition_text(engine.document(root, path, line), project)


def _indexed_path(path: Path, project: Path, root: str) -> str:
    """Return a path of the project relative to the indexed root.

    Raises:
        ConfigError: it is not in the project.
    """
    whole = Path(os.path.normpath(project / path))
    if not whole.is_relative_to(project):
        raise ConfigError(f"{path} is outside of the project: give a path relative to {project}")
    return whole.relative_to(root).as_posix()
