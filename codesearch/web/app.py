"""The application: paths of the API and files of the page."""

from __future__ import annotations

import hashlib
import mimetypes
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError
from codesearch.options import CONTENT_KINDS
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.visible import encodable
from codesearch.web.models import MODELS, description, read_values
from codesearch.web.present import answer_json, file_json, status_json
from codesearch.web.security import Access, Guard, Json, Refusal, is_api
from codesearch.web.work import Gone, Work

STATIC = Path(__file__).parent / "static"
_PAGE, _NO_PAGE = STATIC / "index.html", STATIC / "missing.html"
PREFIX = "/api/v1"
_PATHS_CURE = f"see {PREFIX}/openapi.json"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


def make_app(
    engine: Engine,
    access: Access,
    *,
    work: Work | None = None,
    failed: Callable[[Exception], None] = lambda error: None,
) -> ASGIApp:
    """Make the application."""
    api = Api(engine, work or Work(), failed, Checks())
    routes = [Route(f"{PREFIX}/{name}", api.endpoint(name)) for name in MODELS]
    routes += [Route(f"/{path.name}", _file(path)) for path in STATIC.iterdir()]
    routes += [Route(path, _file(_PAGE)) for path in ("/", "/file")]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _no_such_path})
    app.router.redirect_slashes = False
    return Guard(app, access)


class Checks:
    """Keeps the check out of the searches of someone who types: it can take longer than the search."""

    def __init__(self, pause_s: float = 2.0, most_s: float = 10.0) -> None:
        self._lock = threading.Lock()
        self._pause_s, self._most_s = pause_s, most_s
        self._searched = self._checked = float("-inf")

    def due(self, now: float | None = None) -> bool:
        """Say whether this search checks first: after a pause of searches, or when the last check is old.

        >>> checks = Checks(pause_s=2, most_s=10)
        >>> [checks.due(now) for now in (0, 1, 2.5, 5, 6, 7.5, 9, 10.5, 12, 13.5, 15)]
        [True, False, False, True, False, False, False, False, False, False, True]
        """
        now = time.monotonic() if now is None else now
        with self._lock:
            due = now - self._searched >= self._pause_s or now - self._checked >= self._most_s
            self._searched = now
            self._checked = now if due else self._checked
            return due


@dataclass(frozen=True, slots=True)
class Api:
    """Answers requests; one method for each path."""

    engine: Engine
    work: Work
    failed: Callable[[Exception], None]
    checks: Checks

    def endpoint(self, name: str) -> Callable[[Request], Any]:
        """Return the function that answers requests of a path."""
        answer: Callable[[dict[str, Any]], dict[str, Any]] = getattr(self, name.partition(".")[0])

        async def respond(request: Request) -> Response:
            try:
                values = read_values(name, request.query_params)
                return await self.work.run(request, lambda: Json(answer(values)))
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

    def search(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Search."""
        filters = _filters(asked, asked["path"])
        request = SearchRequest(
            asked["q"],
            asked["limit"],
            asked["mode"],
            filters,
            refresh=self.checks.due(),
            by_file=asked["flat"] == "no",
        )
        scope = _scope(self.engine, asked["root"], asked["group"], asked["at"])
        return answer_json(self.engine.search(request, scope), asked["lines"])

    def similar(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Search for what is similar to a definition that is indexed."""
        (root,) = _roots(self.engine, (asked["root"],))
        view = self.engine.file(root, asked["path"])  # The index lists the file.
        filters = _filters(asked, asked["filter_path"])
        request = SearchRequest("", asked["limit"], filters=filters)
        place = Place(Path(view.root, view.path), asked["line"])
        scope = _scope(self.engine, asked["filter_root"], asked["group"])
        return answer_json(self.engine.similar(place, request, scope), asked["lines"])

    def file(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return lines of a file that is indexed."""
        (root,) = _roots(self.engine, (asked["root"],))
        view = self.engine.file(root, asked["path"])
        return file_json(view, asked["first"], asked["last"], asked["q"])

    def status(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return what is indexed."""
        return status_json(self.engine, changes=asked["changes"] == "yes")

    def openapi(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Return the description of the API."""
        return description(PREFIX)


def _filters(asked: dict[str, Any], paths: tuple[str, ...]) -> Filters:
    kinds = asked["kind"]
    allowed = CONTENT_KINDS[asked["content"]]
    if kinds and allowed and not (kinds := tuple(kind for kind in kinds if kind in allowed)):
        raise Refusal(400, "no kind that is given belongs to the content", "change kind or content")
    return Filters(asked["lang"], kinds or allowed, paths)


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
        kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
        return Response(content, status, headers, kind)

    return respond


async def _no_such_path(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    if not is_api(request.url.path):
        return _file(_NO_PAGE, status)(request)
    return Refusal(status, f"nothing is at {request.url.path[:200]}", _PATHS_CURE).response()


def _refusal_of(error: CodeSearchError) -> Refusal:
    """Return an error of the engine as an error of the API."""
    if isinstance(error, IndexNotFoundError):
        return Refusal(404, error.message, error.cure)
    if isinstance(error, ConfigError):
        return Refusal(400, error.message, error.cure)
    headers = {"Retry-After": "5"} if isinstance(error, IndexLockedError) else None
    return Refusal(503, error.message, error.cure, headers)
