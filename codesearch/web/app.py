"""The API: its paths, their parameters, and how many requests run at once; and the files of the page."""

from __future__ import annotations

import asyncio
import inspect
import mimetypes
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Semaphore
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from codesearch.config import MODES
from codesearch.engine.answer import Answer
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.engine.session import AS_INDEXED, Pace, Policy
from codesearch.errors import CodeSearchError, ConfigError, IndexLockedError, IndexNotFoundError
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.structure.places import find_file
from codesearch.structure.whole import FileView, view_file
from codesearch.types import KINDS
from codesearch.visible import encodable, encodable_json
from codesearch.web.present import Error, File, Status, answer_json, describe, show_file, show_status

T = TypeVar("T")
STATIC = Path(__file__).parent / "static"
PREFIX = "/api/v1"
_MAX_TEXT, _MAX_VALUES = 4000, 64
_RETRY = {"Retry-After": "1"}
_CONTENT_KINDS = {
    "code": tuple(kind for kind in KINDS if kind not in ("section", "setting")),
    "docs": ("section",),
    "config": ("setting",),
    "all": (),
}
"""Value of the parameter `content` -> the kinds that it allows; none means all."""

_Text = Annotated[str, Field(max_length=_MAX_TEXT, pattern=r"^[^\x00]*$")]
_Words = Annotated[str, Field(max_length=_MAX_TEXT, pattern=r"^[^\x00]*[^\s\x00][^\x00]*$")]
"""A text that is not blank."""
_Several = Field(max_length=_MAX_VALUES)
"""Of a parameter that can be given several times; its type is a tuple."""
_Line = Annotated[int, Field(ge=1, le=999_999_999)]
_Indexed = Annotated[_Words, Field(description="The indexed folder.")]
_File = Annotated[_Words, Field(description="The file, relative to the folder.")]
_Roots = Annotated[
    tuple[_Text, ...], _Several, Field(description="Only this indexed folder, by default all.")
]
_Group = Annotated[_Text, Field(description="Only the folders of this group in the user's settings.")]
_Languages = Annotated[tuple[_Text, ...], _Several, Field(description="Only this language.")]
_Kind = Literal[KINDS]  # type: ignore[valid-type]
_Kinds = Annotated[tuple[_Kind, ...], _Several, Field(description=f"Only this kind: {', '.join(KINDS)}.")]
_Content = Annotated[
    Literal["code", "docs", "config", "all"], Field(description="Code, documentation, configuration or all.")
]
_Globs = Annotated[
    tuple[_Text, ...], _Several, Field(description="Only paths that match this glob; ! before it excludes.")
]
_Limit = Annotated[int, Field(ge=1, le=100, description="Hits to show.")]
_Lines = Annotated[int, Field(ge=0, le=50, description="Lines of each snippet.")]
_Mode = Annotated[Literal[MODES], Field(description="hybrid, lexical or semantic.")]  # type: ignore[valid-type]


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


def failure(error: HTTPException) -> Json:
    """Return the answer that tells the client."""
    cure = getattr(error, "cure", f"see {PREFIX}/openapi.json")
    return Json(Error({"message": error.detail, "cure": cure}), error.status_code, error.headers)


class Work:
    """Limits how many requests run and wait. A late thread cannot be stopped and keeps its place until it ends."""

    def __init__(self, threads: int = 4, waiting: int = 32, deadline_s: float = 10.0) -> None:
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
    api = Api(engine, work, failed, Pace(pause_s=2, most_s=10))
    routes = [Route(f"/v1/{name}", api.endpoint(*answer)) for name, answer in api.answers.items()]
    mimetypes.add_type("text/javascript", ".js")  # Windows may have another type.
    return Starlette(
        routes=[
            Mount("/api", routes=routes),
            Route("/file", lambda request: FileResponse(STATIC / "index.html")),
            Mount("/", StaticFiles(directory=STATIC, html=True)),
        ],
        exception_handlers={HTTPException: lambda request, error: failure(error)},
    )


@dataclass(frozen=True, slots=True)
class Api:
    """Answers requests; a method for each path, whose parameters are those of the request."""

    engine: Engine
    work: Work
    failed: Callable[[Exception], None]
    pace: Pace

    @property
    def answers(self) -> dict[str, tuple[Callable[..., Any], type, type[BaseModel]]]:
        """The method that answers a path, the record that it returns, and its parameters."""
        answers: dict[str, tuple[Callable[..., Any], type]] = {
            "search": (self.search, Answer),
            "similar": (self.similar, Answer),
            "file": (self.file, File),
            "status": (self.status, Status),
            "openapi.json": (self.openapi, dict),
        }
        return {name: (answer, record, _parameters(answer)) for name, (answer, record) in answers.items()}

    def endpoint(
        self, answer: Callable[..., Any], record: type, model: type[BaseModel]
    ) -> Callable[[Request], Any]:
        """Return the function that reads a request, calls a method and responds."""

        async def respond(request: Request) -> Json:
            try:
                values = _read(model, request.query_params)
                return await self.work.run(lambda: Json(answer(**values)))
            except HTTPException as refusal:
                return failure(refusal)
            except CodeSearchError as error:
                return failure(_refusal_of(error))
            except Exception as error:  # No error of one request may end the service.
                self.failed(error)
                return failure(Refusal(500, "an error in codesearch", "look at the output of `serve`"))

        return respond

    def search(
        self,
        q: Annotated[_Words, Field(description="A question, keywords, a name or code.")],
        lang: _Languages = (),
        kind: _Kinds = (),
        content: _Content = "all",
        limit: _Limit = 20,
        lines: _Lines = 3,
        path: _Globs = (),
        root: _Roots = (),
        at: Annotated[
            _Text,
            Field(description="A git revision of the folder, which `codesearch index --at` has indexed."),
        ] = "",
        mode: _Mode = "hybrid",
        flat: Annotated[bool, Field(description="Whether to rank definitions, not files.")] = False,
        group: _Group = "",
    ) -> dict[str, Any]:
        """Rank documents for a query."""
        filters = Filters(lang, _kinds(kind, content), path)
        request = SearchRequest(q, limit, mode, filters, by_file=not flat)
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
        return answer_json(self.engine.session(scope, Policy(may_index=False)).similar(place, request), lines)

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
        ] = 0,
        q: Annotated[_Text, Field(description="The query whose words are marked.")] = "",
    ) -> File:
        """Return lines and definitions of an indexed file."""
        (folder,) = _roots(self.engine, (root,))
        return show_file(_view(self.engine, folder, path), first, last, q)

    def status(
        self,
        changes: Annotated[bool, Field(description="Whether to compare each folder with its index.")] = False,
    ) -> Status:
        """List the indexed folders."""
        return show_status(self.engine, changes=changes)

    def openapi(self) -> dict[str, Any]:
        """Return this description."""
        return describe(PREFIX, self.answers)


def _view(engine: Engine, folder: str, path: str) -> FileView:
    """Return an indexed file with its definitions. No other file is read."""
    with engine.session(Scope((folder,)), AS_INDEXED).indexes() as indexes:
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


def _refusal_of(error: CodeSearchError) -> Refusal:
    """Return an error of the engine as an error of the API."""
    status = 404 if isinstance(error, IndexNotFoundError) else 400 if isinstance(error, ConfigError) else 503
    headers = {"Retry-After": "5"} if isinstance(error, IndexLockedError) else None
    return Refusal(status, error.message, error.cure, headers)


def _parameters(answer: Callable[..., Any]) -> type[BaseModel]:
    """Return the model of the parameters of a function that answers requests."""
    fields: dict[str, Any] = {
        name: (parameter.annotation, ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(answer, eval_str=True).parameters.items()
    }
    return create_model(answer.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _read(model: type[BaseModel], parameters: QueryParams) -> dict[str, Any]:
    """Return the values of a request, with defaults."""
    fields = model.model_fields
    values: dict[str, Any] = {name: parameters.getlist(name) for name in parameters}
    for name, texts in values.items():
        # A list in the place of one value is refused.
        if len(texts) == 1 and not (name in fields and isinstance(fields[name].default, tuple)):
            values[name] = texts[0]
    try:
        return dict(model.model_validate(values))
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        name, cure = str(wrong["loc"][0])[:200], wrong["msg"]
    if wrong["type"] == "extra_forbidden":
        raise Refusal(400, f"{name} is no parameter", f"use only {', '.join(fields) or 'the path'}")
    if wrong["type"] == "missing":
        raise Refusal(400, f"{name} is missing", f"give {name}")
    if wrong["type"] == "string_pattern_mismatch":
        raise Refusal(400, f"{name} is blank or has a NUL character", f"give another {name}")
    raise Refusal(400, f"{name} {str(wrong['input'])[:200]!r} is not allowed", f"{name}: {cure}")
