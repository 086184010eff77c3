"""The API: its paths, their parameters, and how many requests run at once; and the files of the page."""

from __future__ import annotations

import asyncio
import inspect
import mimetypes
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Semaphore
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from codesearch.config import MODES
from codesearch.engine.answer import usages_fields
from codesearch.engine.engine import Engine
from codesearch.engine.indexer import Pace
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Policy, Session
from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.search.snippets import marker
from codesearch.structure.folders import list_folder, unlisted_file
from codesearch.structure.places import find_file
from codesearch.structure.whole import FileView, view_file
from codesearch.types import KINDS
from codesearch.visible import encodable, encodable_json
from codesearch.web.present import answer_json, lines_json, show_file, show_status

T = TypeVar("T")
STATIC = Path(__file__).parent / "static"
_MAX_TEXT, _MAX_VALUES, _MAX_LINE = 4000, 64, 999_999_999
_READ_S = 8.0
"""How long files are read for an exact text; `Work` ends requests after ten seconds."""
_RETRY = {"Retry-After": "1"}
_NO_PAGE = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Not found</title>
<link rel="stylesheet" href="/style.css">
<main><h1>There is no page at this address</h1><p><a href="/">Search code</a></p></main>"""

_Text = Annotated[str, Field(max_length=_MAX_TEXT, pattern=r"^[^\x00]*$")]
_Words = Annotated[str, Field(max_length=_MAX_TEXT, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
"""A text that is not blank."""
_Several = Annotated[tuple[_Text, ...], Field(max_length=_MAX_VALUES)]
_Kinds = Annotated[tuple[Literal[KINDS], ...], Field(max_length=_MAX_VALUES)]  # type: ignore[valid-type]
_Line = Annotated[int, Field(ge=1, le=_MAX_LINE)]
_Limit = Annotated[int, Field(ge=1, le=100)]
_Most = Annotated[int, Field(ge=1, le=1000)]


class Json(JSONResponse):
    """JSON in UTF-8, also if the path of a root is not UTF-8."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - as the base class has it.
        """Return the bytes of the answer."""
        return encodable_json(content).encode()


class Refusal(HTTPException):
    """A request that gets no answer: what happened, and what to do."""

    def __init__(
        self, status: int, message: str, cure: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, message, headers)
        self.cure = cure


def failure(error: HTTPException | CodeSearchError) -> Json:
    """Return the answer that tells the client."""
    if isinstance(error, CodeSearchError):
        is_missing, is_wrong = isinstance(error, IndexNotFoundError), isinstance(error, ConfigError)
        headers = {"Retry-After": "5"} if isinstance(error, IndexLockedError) else None
        error = Refusal(404 if is_missing else 400 if is_wrong else 503, error.message, error.cure, headers)
    cure = getattr(error, "cure", "see docs/web.md")
    return Json({"error": {"message": error.detail, "cure": cure}}, error.status_code, error.headers)


class Work:
    """Limits how many requests run and wait. A late thread cannot be stopped and keeps its place until it ends."""

    def __init__(self, threads: int = 4, waiting: int = 32, *, deadline_s: float = 10.0) -> None:
        self._pool = ThreadPoolExecutor(threads, "web")
        self._places = Semaphore(threads + waiting)
        self._deadline_s = deadline_s

    async def run(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, called in a thread."""
        if not self._places.acquire(blocking=False):
            raise Refusal(503, "too many requests wait", "try again in a second", _RETRY)
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: self._places.release())
        try:
            async with asyncio.timeout(self._deadline_s):
                return await asyncio.wrap_future(future)
        except TimeoutError:
            cure = "try again, or use filters"
            raise Refusal(504, f"no answer within {self._deadline_s:g} s", cure, _RETRY) from None


def make_app(
    engine: Engine, work: Work, failed: Callable[[Exception], None] = lambda error: None
) -> Starlette:
    """Make the application."""
    api = Api(engine, work, failed, Pace(every_s=2))
    answers = (
        api.search,
        api.lines,
        api.similar,
        api.file,
        api.tree,
        api.usages,
        api.history,
        api.diff,
        api.status,
    )
    routes = [Route(f"/v1/{answer.__name__}", api.endpoint(answer)) for answer in answers]
    mimetypes.add_type("text/javascript", ".js")  # Windows may have another type.
    return Starlette(
        routes=[
            Mount("/api", routes=routes),
            Route("/file", lambda request: FileResponse(STATIC / "index.html")),
            Mount("/", StaticFiles(directory=STATIC, html=True)),
        ],
        exception_handlers={HTTPException: _missing},
    )


def _missing(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    is_api = request.url.path.startswith("/api/")
    return failure(error) if is_api else HTMLResponse(_NO_PAGE, error.status_code)


@dataclass(frozen=True, slots=True)
class Api:
    """Answers requests; a method for each path, whose parameters are those of the request."""

    engine: Engine
    work: Work
    failed: Callable[[Exception], None]
    pace: Pace

    def endpoint(self, answer: Callable[..., Any]) -> Callable[[Request], Any]:
        """Return the function that reads a request, calls a method and responds."""
        model = _parameters(answer)

        async def respond(request: Request) -> Json:
            try:
                values = _read(model, request.query_params)
                return await self.work.run(lambda: Json(answer(**values)))
            except (HTTPException, CodeSearchError) as error:
                return failure(error)
            except Exception as error:  # No error of one request may end the service.
                self.failed(error)
                return failure(Refusal(500, "an error in codesearch", "look at the output of `serve`"))

        return respond

    def search(
        self,
        q: _Words,
        lang: _Several = (),
        kind: _Kinds = (),
        limit: _Limit = 20,
        path: _Several = (),
        root: _Several = (),
        mode: Literal[*MODES] = "hybrid",  # type: ignore[valid-type]
        flat: bool = False,
        screen: Annotated[int, Field(ge=0, le=400)] = 0,
        group: _Text = "",
    ) -> dict[str, Any]:
        """Rank documents for a query; with `screen`, so many definitions, of at least `limit` files."""
        request = SearchRequest(q, limit, mode, Filters(lang, kind, path), by_file=not flat, screen=screen)
        return answer_json(self._up_to_date(root, group).search(request), screen)

    def lines(
        self,
        q: _Words,
        regex: bool = False,
        ignore_case: bool = False,
        lang: _Several = (),
        kind: _Kinds = (),
        path: _Several = (),
        root: _Several = (),
        group: _Text = "",
        limit: _Most = 200,
    ) -> dict[str, Any]:
        """List the lines with an exact text, or those that a regular expression matches."""
        session, filters = self._up_to_date(root, group), Filters(lang, kind, path)
        how = {"is_pattern": regex, "ignore_case": ignore_case}
        answer = session.lines(q, filters=filters, limit=limit, seconds=_READ_S, **how)
        return lines_json(answer, marker(q, "exact", **how))

    def similar(
        self,
        root: _Words,
        path: _Words,
        line: _Line,
        lang: _Several = (),
        kind: _Kinds = (),
        limit: _Limit = 20,
        filter_path: _Several = (),
        filter_root: _Several = (),
        group: _Text = "",
    ) -> dict[str, Any]:
        """Rank documents by their similarity to the definition at a line."""
        (folder,) = _roots(self.engine, (root,))
        view = _view(self.engine, folder, path)  # The index lists the file.
        request = SearchRequest("", limit, filters=Filters(lang, kind, filter_path))
        session = self.engine.session(_scope(self.engine, filter_root, group), Policy(may_index=False))
        return answer_json(session.similar(Place(Path(view.root, view.path), line), request))

    def file(
        self,
        root: _Words,
        path: _Words,
        first: _Line = 1,
        last: Annotated[int, Field(ge=0, le=_MAX_LINE)] = 0,
        q: _Text = "",
        mode: Literal[*MODES, "exact"] = "hybrid",  # type: ignore[valid-type]
        regex: bool = False,
        ignore_case: bool = False,
    ) -> dict[str, Any]:
        """Return lines and definitions of an indexed file."""
        (folder,) = _roots(self.engine, (root,))
        mark = marker(q, mode, is_pattern=regex, ignore_case=ignore_case)
        return show_file(_view(self.engine, folder, path), first, last, mark)

    def tree(self, root: _Words, path: _Text = "") -> dict[str, Any]:
        """List an indexed folder."""
        with self._as_indexed(root).indexes() as (index,):
            return list_folder(index, path)

    def usages(
        self,
        root: _Words,
        name: _Words,
        lang: _Several = (),
        path: _Several = (),
        limit: _Most = 200,
        tests: bool = False,
    ) -> dict[str, Any]:
        """List the lines that use a name, and its definitions, or with `tests` only the tests with the name."""
        session, filters = self._as_indexed(root), Filters(lang, (), path)
        return usages_fields(session.usages(name, filters=filters, limit=limit, all_code=True, tests=tests))

    def history(self, root: _Words, q: _Text = "", path: _Text = "", limit: _Limit = 20) -> dict[str, Any]:
        """Rank the commits of a folder's git repository. The first request indexes them."""
        return asdict(self._as_indexed(root).history(q, place=path or ".", top_k=limit))

    def diff(
        self, root: _Words, id: Annotated[str, Field(pattern="^[0-9a-f]{7,64}$")], path: _Text = ""
    ) -> dict[str, Any]:
        """Return the lines of a commit with its diff, or of a path."""
        session = self._as_indexed(root)
        return {"lines": session.diff(id, place=path or ".")}

    def status(self) -> dict[str, Any]:
        """List the indexed folders."""
        return show_status(self.engine)

    def _up_to_date(self, roots: tuple[str, ...], group: str) -> Session:
        policy = Policy(may_index=False, budget_s=self.pace.budget_s())
        return self.engine.session(_scope(self.engine, roots, group), policy)

    def _as_indexed(self, root: str) -> Session:
        return self.engine.session(Scope(_roots(self.engine, (root,))), AS_INDEXED)


def _view(engine: Engine, folder: str, path: str) -> FileView:
    """Return an indexed file with its definitions, or other text in the folder. No other file is read."""
    with engine.session(Scope((folder,)), AS_INDEXED).indexes() as indexes:
        try:
            return view_file(find_file(indexes, path))
        except IndexNotFoundError:
            if view := unlisted_file(indexes[0], path):
                return view
            raise


def _scope(engine: Engine, roots: tuple[str, ...], group: str) -> Scope:
    if roots and group:
        raise Refusal(400, "a root and a group exclude each other", "give only one of them")
    return Scope(roots=_roots(engine, roots), group=group)


def _roots(engine: Engine, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return roots of a request; only names of indexed folders are looked up, so no other path is touched."""
    indexed = {encodable(status.root): status.root for status in engine.status()} if asked else {}
    for root in asked:
        if root not in indexed:
            raise Refusal(404, f"{root[:200]} is not indexed", "see /api/v1/status")
    return tuple(indexed[root] for root in asked)


def _parameters(answer: Callable[..., Any]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(answer, eval_str=True).parameters.items()
    }
    return create_model(answer.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _read(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    values: dict[str, Any] = {name: parameters.getlist(name) for name in parameters}
    several = {name for name, field in model.model_fields.items() if isinstance(field.default, tuple)}
    # A list in the place of one value is refused.
    values |= {name: given[0] for name, given in values.items() if len(given) == 1 and name not in several}
    try:
        return dict(model.model_validate(values))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
    is_blank = wrong["type"] == "string_pattern_mismatch"
    what = "text that is not blank and has no NUL character" if is_blank else wrong["msg"]
    raise Refusal(400, f"parameter {str(wrong['loc'][0])[:200]}: {what}", "see docs/web.md")
