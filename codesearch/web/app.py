"""The application, paths of the API and files of the page, and the port and the thread that serve it."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import uvicorn
from pydantic import Field
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from codesearch.config import MODES
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import Pace, Policy
from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.structure.places import find_file
from codesearch.structure.whole import FileView, view_file
from codesearch.types import KINDS
from codesearch.visible import encodable
from codesearch.web.models import Digits, Several, Text, Words, YesNo, description, model_of, read_values
from codesearch.web.present import answer_json, file_json, status_json
from codesearch.web.security import Access, Gone, Guard, Json, Refusal, Work, is_api, is_loopback

STATIC = Path(__file__).parent / "static"
PREFIX = "/api/v1"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
VARIABLE = "CODESEARCH_TOKEN"
_MAX_CONNECTIONS = 400
"""More connections get status 503. Each is closed after `_IDLE_S` without a request."""
_IDLE_S = 10
_MAX_HEAD_BYTES = 1 << 16
_STOP_S = 2.0
_MIN_TOKEN = 16
_CONTENT_KINDS = {
    "code": tuple(kind for kind in KINDS if kind not in ("section", "setting")),
    "docs": ("section",),
    "config": ("setting",),
    "all": (),
}
"""Value of the parameter `content` -> the kinds that it allows; none means all."""

_Line = Annotated[int, Field(ge=1, le=999_999_999), Digits]
_Indexed = Annotated[Words, Field(description="The indexed folder.")]
_File = Annotated[Words, Field(description="The file, relative to the folder.")]
_Roots = Annotated[tuple[Text, ...], Several, Field(description="Only this indexed folder, by default all.")]
_Group = Annotated[Text, Field(description="Only the folders of this group in the user's settings.")]
_Languages = Annotated[tuple[Text, ...], Several, Field(description="Only this language.")]
_Kind = Literal[KINDS]  # type: ignore[valid-type]
_Kinds = Annotated[tuple[_Kind, ...], Several, Field(description=f"Only this kind: {', '.join(KINDS)}.")]
_Content = Annotated[
    Literal["code", "docs", "config", "all"], Field(description="Code, documentation, configuration or all.")
]
_Globs = Annotated[
    tuple[Text, ...], Several, Field(description="Only paths that match this glob; ! before it excludes.")
]
_Limit = Annotated[int, Field(ge=1, le=100, description="Hits to show."), Digits]
_Lines = Annotated[int, Field(ge=0, le=50, description="Lines of each snippet."), Digits]
_Mode = Annotated[Literal[MODES], Field(description="hybrid, lexical or semantic.")]  # type: ignore[valid-type]


def make_app(
    engine: Engine,
    access: Access,
    *,
    work: Work | None = None,
    failed: Callable[[Exception], None] = lambda error: None,
) -> ASGIApp:
    """Make the application."""
    api = Api(engine, work or Work(), failed, Pace(pause_s=2, most_s=10))
    routes = [Route(f"{PREFIX}/{name}", api.endpoint(answer)) for name, (answer, _) in api.answers.items()]
    routes += [Route(f"/{path.name}", _file(path)) for path in STATIC.iterdir()]
    routes += [Route(path, _file(STATIC / "index.html")) for path in ("/", "/file")]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_path})
    app.router.redirect_slashes = False
    return Guard(app, access)


@dataclass(frozen=True, slots=True)
class Api:
    """Answers requests; a method for each path, whose parameters are those of the request."""

    engine: Engine
    work: Work
    failed: Callable[[Exception], None]
    pace: Pace

    @property
    def answers(self) -> dict[str, tuple[Callable[..., dict[str, Any]], str]]:
        """The method that answers a path, and the schema of its answer."""
        return {
            "search": (self.search, "Answer"),
            "similar": (self.similar, "Answer"),
            "file": (self.file, "File"),
            "status": (self.status, "Status"),
            "openapi.json": (self.openapi, "Description"),
        }

    def endpoint(self, answer: Callable[..., dict[str, Any]]) -> Callable[[Request], Any]:
        """Return the function that reads a request, calls a method and responds."""
        model = model_of(answer)

        async def respond(request: Request) -> Response:
            try:
                values = read_values(model, request.query_params)
                return await self.work.run(request, lambda: Json(answer(**values)))
            except Refusal as refusal:
                return refusal.response()
            except CodeSearchError as error:
                return _refusal_of(error).response()
            except Gone:
                return Response(status_code=499)
            except Exception as error:  # No error of one request may end the service.
                self.failed(error)
                return Refusal(500, "an error in codesearch", "look at the output of `serve`").response()

        return respond

    def search(
        self,
        q: Annotated[Words, Field(description="A question, keywords, a name or code.")],
        lang: _Languages = (),
        kind: _Kinds = (),
        content: _Content = "all",
        limit: _Limit = 20,
        lines: _Lines = 3,
        path: _Globs = (),
        root: _Roots = (),
        at: Annotated[
            Text,
            Field(description="A git revision of the folder, which `codesearch index --at` has indexed."),
        ] = "",
        mode: _Mode = "hybrid",
        flat: Annotated[YesNo, Field(description="Whether to rank definitions, not files.")] = "no",
        group: _Group = "",
    ) -> dict[str, Any]:
        """Rank documents for a query."""
        filters = Filters(lang, _kinds(kind, content), path)
        request = SearchRequest(q, limit, mode, filters, by_file=flat == "no")
        policy = Policy(may_index=False, budget_s=self.pace.budget_s())
        session = self.engine.session(_scope(self.engine, root, group, at), policy)
        return answer_json(session.search(request), lines)

    def similar(
        self,
        root: _Indexed,
        path: _File,
        line: Annotated[_Line, Field(description="A line of the definition.")],
        lang: _Languages = (),
        kind: _Kinds = (),
        content: _Content = "all",
        limit: _Limit = 20,
        lines: _Lines = 3,
        filter_path: _Globs = (),
        filter_root: _Roots = (),
        group: _Group = "",
    ) -> dict[str, Any]:
        """Rank documents by their similarity to a definition."""
        (folder,) = _roots(self.engine, (root,))
        view = _view(self.engine, folder, path)  # The index lists the file.
        request = SearchRequest("", limit, filters=Filters(lang, _kinds(kind, content), filter_path))
        place = Place(Path(view.root, view.path), line)
        scope = _scope(self.engine, filter_root, group)
        return answer_json(self.engine.similar(place, request, scope), lines)

    def file(
        self,
        root: _Indexed,
        path: _File,
        first: Annotated[_Line, Field(description="The first line to return.")] = 1,
        last: Annotated[
            int,
            Field(
                ge=0,
                le=999_999_999,
                description="The last line to return; 0 for as many as an answer has, 2,000.",
            ),
            Digits,
        ] = 0,
        q: Annotated[Text, Field(description="The query whose words are marked.")] = "",
    ) -> dict[str, Any]:
        """Return lines and definitions of an indexed file."""
        (folder,) = _roots(self.engine, (root,))
        return file_json(_view(self.engine, folder, path), first, last, q)

    def status(
        self,
        changes: Annotated[YesNo, Field(description="Whether to compare each folder with its index.")] = "no",
    ) -> dict[str, Any]:
        """List the indexed folders."""
        return status_json(self.engine, changes=changes == "yes")

    def openapi(self) -> dict[str, Any]:
        """Return this description."""
        return description(PREFIX, self.answers)


def _view(engine: Engine, folder: str, path: str) -> FileView:
    """Return an indexed file with its definitions. No other file is read."""
    with engine.indexes(Scope((folder,))) as indexes:
        return view_file(find_file(indexes, path))


def _kinds(kinds: tuple[str, ...], content: str) -> tuple[str, ...]:
    """Return the kinds that a request allows; none means all."""
    allowed = _CONTENT_KINDS[content]
    if kinds and allowed and not (kinds := tuple(kind for kind in kinds if kind in allowed)):
        raise Refusal(400, "no kind that is given belongs to the content", "change kind or content")
    return kinds or allowed


def _scope(engine: Engine, roots: tuple[str, ...], group: str, at: str = "") -> Scope:
    if roots and group:
        raise Refusal(400, "a root and a group exclude each other", "give only one of them")
    if at and not roots and not group:  # The only folder need not be named.
        roots = tuple(map(encodable, engine.indexed_roots()))
    if at and len(roots) != 1:
        raise Refusal(400, "at needs one folder", "give one of the indexed folders as root")
    return Scope(roots=_roots(engine, roots), group=group, at=at)


def _roots(engine: Engine, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return roots of a request; only names of indexed folders are looked up, so no other path is touched."""
    indexed = {encodable(status.root): status.root for status in engine.status()} if asked else {}
    for root in asked:
        if root not in indexed:
            raise Refusal(404, f"{root[:200]} is not indexed", f"see {PREFIX}/status")
    return tuple(indexed[root] for root in asked)


def _file(path: Path, status: int = 200) -> Callable[[Request], Response]:
    def respond(request: Request) -> Response:
        content = path.read_bytes()
        tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if status == 200 and request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, status, headers, _TYPES[path.suffix])

    return respond


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    if not is_api(request.url.path):
        return _file(STATIC / "missing.html", status)(request)
    return Refusal(status, f"nothing is at {request.url.path[:200]}", f"see {PREFIX}/openapi.json").response()


def _refusal_of(error: CodeSearchError) -> Refusal:
    """Return an error of the engine as an error of the API."""
    if isinstance(error, IndexNotFoundError):
        return Refusal(404, error.message, error.cure)
    if isinstance(error, ConfigError):
        return Refusal(400, error.message, error.cure)
    headers = {"Retry-After": "5"} if isinstance(error, IndexLockedError) else None
    return Refusal(503, error.message, error.cure, headers)


def read_token(host: str, file: Path | None, variables: Mapping[str, str]) -> str:
    """Return the token that clients must send; "" if none is needed."""
    token = variables.get(VARIABLE, "")
    if file:
        try:
            token = file.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ConfigError(f"--token-file {file} cannot be read ({reason})", "give another file") from None
    if (token or file) and len(token) < _MIN_TOKEN:
        raise ConfigError(f"the token has {len(token)} characters", f"give at least {_MIN_TOKEN}")
    if not token and not is_loopback(host):
        raise ConfigError(
            f"other computers reach {host}, so a token is needed", f"give --token-file FILE or set {VARIABLE}"
        )
    return token


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise ConfigError(f"{host} cannot be used ({error.strerror})", "give another --host") from None
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    try:
        return socket.create_server(address, family=family, backlog=512, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is taken", "give another with --port") from None
        reason = os.strerror(error.errno or 0)
        raise ConfigError(
            f"{host}:{port} cannot be used ({reason})", "give another --host or --port"
        ) from None


class Site:
    """Answers HTTP in a thread."""

    def __init__(
        self,
        engine: Engine,
        listener: socket.socket,
        access: Access,
        failed: Callable[[Exception], None],
    ) -> None:
        self._server = uvicorn.Server(
            uvicorn.Config(
                make_app(engine, access, failed=failed),
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
                limit_concurrency=_MAX_CONNECTIONS,
                timeout_keep_alive=_IDLE_S,
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._server.serve([listener])), name="web", daemon=True
        )

    def start(self) -> None:
        """Start answering."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering; wait up to two seconds for the thread."""
        self._server.should_exit = True
        self._thread.join(_STOP_S)
