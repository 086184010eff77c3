"""A service for the page alone: the engine behind `/api/v1`, with the Content-Security-Policy of `serve --web`.

`python -m tests.browser.stand_in HOME PORT`
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvicorn
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from codesearch import __version__
from codesearch.engine.answer import Answer
from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import CodeSearchError
from codesearch.search.request import Filters, Place, SearchRequest
from codesearch.search.similar import document_at
from codesearch.search.snippets import best_lines
from codesearch.types import KINDS, Hit

STATIC = Path(__file__).parents[2] / "codesearch" / "web" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
CONTENT = {
    "docs": ("section",),
    "config": ("setting",),
    "code": tuple(kind for kind in KINDS if kind not in ("section", "setting")),
}
COLOURED = {
    Token.Keyword: "keyword",
    Token.Literal.String: "string",
    Token.Literal.Number: "number",
    Token.Comment: "comment",
    Token.Name.Function: "function",
    Token.Name.Class: "type",
    Token.Name.Builtin: "builtin",
}
LIMIT, LINES = 20, 3


def main() -> None:
    home, port = sys.argv[1:]
    api = Api(Engine(home))
    routes = [Route(f"/api/v1/{name}", answering(getattr(api, name))) for name in vars(Api) if name[0] != "_"]
    files = Mount("/", StaticFiles(directory=STATIC, html=True))
    uvicorn.run(
        guarded(Starlette(routes=[*routes, files])), port=int(port), log_level="error", lifespan="off"
    )


class Api:
    """One method for each path below `/api/v1`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def search(self, asked: QueryParams) -> dict[str, Any]:
        scope = Scope(roots=tuple(asked.getlist("root")))
        return answer_json(self._engine.search(request(asked), scope))

    def similar(self, asked: QueryParams) -> dict[str, Any]:
        place = Place(Path(asked["root"], asked["path"]), int(asked["line"]))
        return answer_json(self._engine.similar(place, request(asked, paths=())))

    def document(self, asked: QueryParams) -> dict[str, Any]:
        path = Path(asked["root"], asked["path"])
        found = asdict(document_at(path, int(asked["line"])))
        first, last = found["start_line"], found["end_line"]
        code = "\n".join(path.read_text("utf-8").split("\n")[first - 1 : last])
        lines = token_lines(code, found["language"], first, range(last - first + 1))
        return {**found, "root": asked["root"], "path": asked["path"], "lines": lines}

    def status(self, asked: QueryParams) -> dict[str, Any]:
        fields = ("root", "documents", "files", "languages")
        roots = [{field: getattr(index, field) for field in fields} for index in self._engine.status()]
        return {
            "version": __version__,
            "roots": [{**root, "kinds": self._kinds(root["root"])} for root in roots],
        }

    def _kinds(self, root: str) -> dict[str, int]:
        with self._engine.open(Scope(roots=(root,)), with_model=False) as searcher:
            (index,) = searcher.indexes
            counts = Counter(kind for segment in index.segments for kind in segment.rows.kinds.tolist())
        return {KINDS[kind]: count for kind, count in counts.items()}


def request(asked: QueryParams, **changes: Any) -> SearchRequest:
    kinds = tuple(asked.getlist("kind")) or CONTENT.get(asked.get("content", ""), ())
    filters = {"languages": asked.getlist("lang"), "kinds": kinds, "paths": asked.getlist("path"), **changes}
    wanted = Filters(**{name: tuple(values) for name, values in filters.items()})
    return SearchRequest(
        asked.get("q", ""), int(asked.get("limit", LIMIT)), asked.get("mode", "hybrid"), wanted
    )


def answer_json(answer: Answer) -> dict[str, Any]:
    query = "" if answer.mode == "similar" else answer.query
    return {**asdict(answer), "hits": [hit_json(hit, query) for hit in answer.hits]}


def hit_json(hit: Hit, query: str) -> dict[str, Any]:
    snippet = token_lines(hit.code, hit.language, hit.start_line, best_lines(hit.code, query, LINES))
    return {**asdict(hit), "snippet": snippet, "reasons": list(reasons(hit, query))}


def reasons(hit: Hit, query: str) -> Iterator[str]:
    words = [word for word in dict.fromkeys(query.lower().split()) if len(word) > 2]
    for part, text in {"name": hit.name, "documentation": hit.docstring, "code": hit.code}.items():
        if found := [f"`{word}`" for word in words if word in text.lower()]:
            yield f"{part} contains {', '.join(found)}"


def token_lines(code: str, language: str, first: int, chosen: Any) -> list[dict[str, Any]]:
    lines: list[list[list[str]]] = [[]]
    for kind, text in tokens(code, language):
        for position, part in enumerate(text.split("\n")):
            lines.extend([[]] if position else [])
            lines[-1].extend([[kind, part]] if part else [])
    texts = code.split("\n")
    return [{"line": first + at, "text": texts[at], "tokens": lines[at]} for at in chosen]


def tokens(code: str, language: str) -> list[tuple[str, str]]:
    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [("text", code)]
    return [
        (next((name for kind, name in COLOURED.items() if of in kind), "text"), text)
        for of, text in lexer.get_tokens(code)
    ]


def answering(answer: Callable[[QueryParams], dict[str, Any]]) -> Callable[[Request], Any]:
    async def endpoint(asked: Request) -> JSONResponse:
        try:
            return JSONResponse(await run_in_threadpool(answer, asked.query_params))
        except CodeSearchError as error:
            message, _, cure = str(error).partition(": ")
            return JSONResponse({"error": {"message": message, "cure": cure}}, status_code=400)

    return endpoint


def guarded(app: Any) -> Any:
    async def with_policy(scope: Any, receive: Any, send: Any) -> None:
        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"content-security-policy", POLICY.encode()))
            await send(message)

        await app(scope, receive, send_with_policy)

    return with_policy


if __name__ == "__main__":
    main()
