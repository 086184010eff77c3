"""The MCP server: tools over stdio that call the engine in threads, so that the event loop is never blocked."""

from __future__ import annotations

import asyncio
import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import inf
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types
from mcp.server import Server, ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError

import codesearch
from codesearch.agents.clients import INSTRUCTIONS
from codesearch.agents.text import (
    PathOf,
    brief_text,
    code_lines,
    commit_text,
    files_text,
    fitting_chars,
    fitting_lines,
    groups_text,
    history_text,
    lines_text,
    outlines_text,
    path_below,
    readings_text,
    status_text,
    usages_text,
)
from codesearch.build.build import Progress
from codesearch.engine.brief import make_brief
from codesearch.engine.engine import Engine
from codesearch.engine.indexer import PROGRESS_S, Pace
from codesearch.engine.scope import Scope, covering_index, find_project
from codesearch.engine.session import Policy, Session
from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError, nearest_or
from codesearch.search.request import Filters, SearchRequest
from codesearch.visible import encodable, visible

Groups = Mapping[str, Sequence[Path]]
_ROOTS_TIMEOUT_S = 2.0
_WHOLE = 60
"""A longer function is read around the line that is asked for, and a longer class or file without bodies."""
_LEAST_TOKENS = 250
"""Of each of several answers."""
_READ_ONLY = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def _about(text: str) -> Any:  # noqa: ANN401 - what pydantic returns
    return Field(description=text)


def _at_most(high: int, text: str, low: int = 1) -> Any:  # noqa: ANN401 - what pydantic returns
    """Describe a number and its limits; `_arguments` replaces a larger one by the limit and says so."""
    return Field(description=text, ge=low, le=high)


_PLACE = "path:line, path:first-last, path::name or a name, such as Stack.push."
_Tokens = Annotated[int, _at_most(20_000, "Longest answer, in tokens.", low=100)]


class Agents:
    """Answers the tools for one project, the folder that they are confined to, and for the groups that a user allows.

    Each public method is a tool, and its docstring is what the agent reads about it.
    """

    def __init__(
        self, engine: Engine, root: Path | None, here: Path, groups: Groups, *, auto_index: bool
    ) -> None:
        self._engine, self._named, self._here = engine, root, here
        self._groups, self._auto_index = groups, auto_index
        self._project: Path | None = None
        self._lock = anyio.Lock()

    async def search(
        self,
        context: Context[Any, Any],
        query: Annotated[
            str | list[str],
            _about("A question, keywords, a name, a message or code; several as a list. Empty: lists path."),
        ] = "",
        path: Annotated[str, _about("A glob; src/ is that folder of the project; ! excludes.")] = "",
        language: Annotated[str, _about("Only this language, such as python.")] = "",
        kind: Annotated[str, _about("Only this kind, such as function, method or class.")] = "",
        exact: Annotated[
            bool, _about("Like ripgrep: every line with this text, or with this regular expression (a|b).")
        ] = False,
        limit: Annotated[int, _at_most(50, "Hits with code; 0: as many as fit.", low=0)] = 0,
        max_tokens: _Tokens = 1_100,
        group: str = "",
    ) -> str:
        """Before grep: find code by meaning, words or name. The answer has the lines of code that decide."""

        def work(session: Session, path_of: PathOf) -> str:
            languages, kinds, paths = ((value,) if value else () for value in (language, kind, path))
            filters = Filters(languages, kinds, paths, here=session.scope.here)

            def one_text(text: str, tokens: int) -> str:
                if exact:
                    lines = session.lines(text, filters=filters, limit=fitting_lines(tokens))
                    return lines_text(lines, path_of, tokens)
                request = SearchRequest(text, limit or None, filters=filters)
                brief = make_brief(session, request, code_lines(tokens), with_usages=True)
                return brief_text(brief, path_of, tokens)

            if path and not query:
                return files_text(session.files(filters), path_of, max_tokens)
            return _each(query, one_text, max_tokens)

        return await self._run(context, work, group)

    async def read(
        self,
        context: Context[Any, Any],
        place: Annotated[str | list[str], _about(f"{_PLACE} Several as a list.")],
        max_tokens: _Tokens = 2_000,
        group: str = "",
    ) -> str:
        """Read a function, class, file or lines; of a long function, what is around path:line."""

        def work(session: Session, path_of: PathOf) -> str:
            def one_text(text: str, tokens: int) -> str:
                found = session.read(text, most_lines=_WHOLE, most_chars=fitting_chars(tokens))
                return readings_text(found, path_of, tokens)

            return _each(place, one_text, max_tokens)

        return await self._run(context, work, group)

    async def outline(
        self,
        context: Context[Any, Any],
        place: Annotated[str, _about("A folder, file or class; the project if empty.")] = "",
        question: Annotated[str, _about("Show only what answers this.")] = "",
        max_tokens: _Tokens = 1_500,
        group: str = "",
    ) -> str:
        """Before you read a file: what is in a folder, file or class, or what of it a question needs."""

        def work(session: Session, path_of: PathOf) -> str:
            lines, chars = fitting_lines(max_tokens), fitting_chars(max_tokens)
            found = session.outline(place or ".", max_lines=lines, max_chars=chars, question=question)
            text = outlines_text(found, max_tokens)
            if not question and len(found.places) == 1 and found.places[0].entries[0].kind == "file":
                whole = session.read(place, most_chars=len(text))
                code = readings_text(whole, path_of, max_tokens)
                text = text if whole.places[0].folded or len(code) > len(text) else code
            return text

        return await self._run(context, work, group)

    async def usages(
        self,
        context: Context[Any, Any],
        place: Annotated[str | list[str], _about(f"{_PLACE} Several as a list.")],
        path: Annotated[str, _about("A glob of the files to look in; ! excludes.")] = "",
        all_code: Annotated[bool, _about("List all, also in comments, tests and generated code.")] = False,
        tests: Annotated[bool, _about("List only the tests that have the name.")] = False,
        limit: Annotated[int, _at_most(200, "Hits to show.")] = 30,
        max_tokens: _Tokens = 1_500,
        group: str = "",
    ) -> str:
        """Before you change a definition: the lines that use it, derived types, tests.

        Text is matched, not types: flags and options are found too.
        """

        def work(session: Session, path_of: PathOf) -> str:
            filters = Filters(paths=(path,) if path else (), here=session.scope.here)

            def one_text(text: str, tokens: int) -> str:
                answer = session.usages(text, filters=filters, limit=limit, all_code=all_code, tests=tests)
                return usages_text(answer, path_of, tokens, tests=tests)

            return _each(place, one_text, max_tokens)

        return await self._run(context, work, group)

    async def history(
        self,
        context: Context[Any, Any],
        question: Annotated[str, _about("What to look for; newest first if empty.")] = "",
        place: Annotated[
            str,
            _about("Only what changed this file, definition (path:12, path::name) or lines (path:12-12)."),
        ] = "",
        commit: Annotated[str, _about("Show this commit with its diff, of the place if given.")] = "",
        limit: Annotated[int, _at_most(50, "Commits to show.")] = 8,
        max_tokens: _Tokens = 1_000,
    ) -> str:
        """When you ask why code is so: find commits by words, or show one."""

        def work(session: Session, path_of: PathOf) -> str:
            if commit:
                return commit_text(session.diff(commit, place=place), max_tokens)
            answer = session.history(question, place=place, top_k=limit, on_progress=_reporter(context))
            return history_text(answer, max_tokens)

        return await self._run(context, work)

    async def status(self, context: Context[Any, Any]) -> str:
        """When a search finds nothing: what is indexed, what is not, and whether files changed since."""

        def work(session: Session, path_of: PathOf) -> str:
            (found,) = self._engine.status(session.entries[0].committed().root, changes=True)
            return status_text(found, Path(session.scope.here or "")) + groups_text(self._groups)

        return await self._run(context, work)

    async def _run(
        self, context: Context[Any, Any], work: Callable[[Session, PathOf], str], group: str = ""
    ) -> str:
        """Call `work` in a thread with a session, and with what shows paths relative to the project."""
        async with self._lock:
            if self._project is None:
                named = self._named or await _client_root(context) or self._here
                self._project = (None if self._named else find_project(named)) or named.resolve()
            scope, report = self._scope(self._project, group), _reporter(context)
            policy = Policy(may_index=False)
            if self._auto_index:  # The progress keeps the client waiting.
                policy = Policy(True, inf, functools.partial(_wait_and_index, report), report)
            session = await anyio.to_thread.run_sync(self._engine.session, scope, policy)
        path_of = functools.partial(path_below, Path(session.scope.here or ""))
        return encodable(await anyio.to_thread.run_sync(work, session, path_of))

    def _scope(self, project: Path, group: str) -> Scope:
        """Return the scope of the project, or of a group that the user allowed."""
        if group:
            if group not in self._groups:
                raise ConfigError(f"group {group!r}", f"choose one of {', '.join(self._groups)}")
            return Scope(here=project, folders=self._groups[group])
        if not (self._named or find_project(project) or covering_index(self._engine.local_home(), project)):
            raise IndexNotFoundError(f"{project} is no project", "start the server with `--root DIR`")
        return Scope(here=project, folders=(project,))


def _each(places: str | list[str], answer: Callable[[str, int], str], max_tokens: int) -> str:
    """Answer for each place; several share the tokens, and an error of one does not concern the others."""
    if isinstance(places, str) or len(places) == 1:
        return answer(places if isinstance(places, str) else places[0], max_tokens)
    parts = []
    for text in places:
        try:
            found = answer(text, max(max_tokens // len(places), _LEAST_TOKENS))
        except CodeSearchError as error:
            found = f"error: {error}\n"
        parts.append(f"## {visible(text)}\n{found}")
    return "\n".join(part.removesuffix("\n") for part in parts) + "\n"


def _wait_and_index(report: Callable[..., None], wanted: object, index: Callable[..., object]) -> None:
    """Index a folder; wait as long as another process does that."""
    for waited in count(1):
        try:
            index(on_progress=report)
            return
        except IndexLockedError as error:
            report(Progress("wait", waited, 0, 0), error.message)


def _reporter(context: Context[Any, Any]) -> Callable[..., None]:
    """Return a function for a worker thread: it sends progress to the client, and stops if the call was cancelled."""
    pace, sent = Pace(PROGRESS_S), 0.0

    def report(progress: Progress, message: str = "") -> None:
        nonlocal sent
        anyio.from_thread.check_cancelled()
        done = float(progress.done_bytes)
        if done <= sent or not pace.is_due():  # The protocol wants values that increase.
            return
        sent = done
        message = message or f"indexing: {progress.documents} definitions"
        anyio.from_thread.run(context.report_progress, done, progress.total_bytes or None, message)

    return report


async def _client_root(context: Context[Any, Any]) -> Path | None:
    """Return the first folder that the client has open, if it says so."""
    capabilities = context.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    try:
        with anyio.fail_after(_ROOTS_TIMEOUT_S), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Roots are deprecated, but clients still have them.
            listed = await context.session.list_roots()
    except Exception:  # Whatever a client answers, the working directory is the fallback.
        return None
    paths = [Path(url2pathname(urlparse(str(root.uri)).path)) for root in listed.roots]
    return next((path for path in paths if path.is_dir()), None)


def make_server(
    engine: Engine, root: Path | None, here: Path, *, auto_index: bool = True, groups: Groups | None = None
) -> Server:
    """Make the server; without `groups`, no tool has the argument `group`."""
    agents = Agents(engine, root, here, groups or {}, auto_index=auto_index)
    reading = (agents.search, agents.outline, agents.read, agents.usages)
    methods: Sequence[Callable[..., Any]] = (*reading, agents.history, agents.status)
    tools = {method.__name__: Tool.from_function(method, structured_output=False) for method in methods}
    for tool in tools.values():
        _trim(tool.parameters, groups or {})

    async def list_tools(context: ServerRequestContext, request: object) -> ListToolsResult:
        listed = [
            mcp_types.Tool(
                name=name, description=tool.description, input_schema=tool.parameters, annotations=_READ_ONLY
            )
            for name, tool in tools.items()
        ]
        return ListToolsResult(tools=listed)

    async def call_tool(context: ServerRequestContext, request: CallToolRequestParams) -> CallToolResult:
        try:
            if request.name not in tools:
                cure = nearest_or(request.name, tools, f"choose from {', '.join(tools)}")
                raise ConfigError(f"no tool {request.name!r}", cure)
            arguments, notes = _arguments(tools[request.name], request.arguments or {})
            text = notes + await tools[request.name].run(arguments, Context(request_context=context))
        except (CodeSearchError, ToolError) as error:
            text = _problem(request.name, error.__cause__ or error)
            return CallToolResult(content=[TextContent(text=text)], is_error=True)
        return CallToolResult(content=[TextContent(text=text)])

    return Server(
        "codesearch",
        version=codesearch.__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _trim(schema: dict[str, Any], groups: Groups) -> None:
    """Say in a schema that other arguments are refused, and which groups there are."""
    schema["additionalProperties"] = False
    properties = schema["properties"]
    for part in (schema, *properties.values()):
        part.pop("title", None)  # It repeats the name.
    if not groups:
        properties.pop("group", None)
    elif "group" in properties:
        names = ", ".join(groups)
        properties["group"]["description"] = f"Search these folders, not the project. One of {names}."


def _arguments(tool: Tool, given: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return arguments with numbers above a maximum replaced by it, and the notes that say so."""
    known = tool.parameters["properties"]
    if unknown := next((name for name in given if name not in known), None):
        cure = nearest_or(unknown, known, f"choose from {', '.join(known) or 'none'}")
        raise ConfigError(f"{tool.name} has no argument {unknown!r}", cure)
    most = {name: known[name]["maximum"] for name in given if "maximum" in known[name]}
    above = {name: high for name, high in most.items() if isinstance(given[name], int) and given[name] > high}
    notes = [f"note: {name} is {high:,}, the maximum\n" for name, high in above.items()]
    return {**given, **above}, "".join(notes)


def _problem(tool: str, error: BaseException) -> str:
    if isinstance(error, ValidationError):
        wrong = error.errors()[0]
        said = f"{tool}: {wrong['loc'][0]}: {wrong['msg']}"
    elif isinstance(error, (CodeSearchError, ValueError)):
        said = str(error)
    else:
        said = f"a defect of codesearch, please report it: {error!r}"
    return encodable(" ".join(said.split()))


async def converse(
    server: Server, reader: asyncio.StreamReader | None = None, writer: asyncio.StreamWriter | None = None
) -> None:
    """Answer a client at stdin and stdout, or at the two streams, until it ends."""
    lines: Any = (line.decode("utf-8", "replace") async for line in reader) if reader else None
    out: Any = _Out(writer) if writer else None
    async with stdio_server(lines, out) as streams:
        await server.run(streams[0], streams[1], server.create_initialization_options())


class _Out:
    """A stream as the SDK writes to it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()
