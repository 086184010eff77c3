"""Which requests are answered: checks of host, origin, token, method and size, and how many run at once."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from codesearch.visible import encodable_json

T = TypeVar("T")
MAX_TARGET_BYTES = 40_000
_RETRY = {"Retry-After": "1"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class Json(JSONResponse):
    """JSON in UTF-8, also if the path of a root is not UTF-8."""

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - as the base class has it.
        """Return the bytes of the answer."""
        return encodable_json(content).encode()


class Refusal(Exception):
    """A request that gets no answer: what happened, and what to do."""

    def __init__(
        self, status: int, message: str, cure: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.cure = status, message, cure
        self.headers = dict(headers or {})

    def response(self) -> Json:
        """Return the answer that tells the client."""
        body = {"error": {"message": self.message, "cure": self.cure}}
        return Json(body, self.status, self.headers)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask: the address that the service listens on, and the token that clients must send, "" for none."""

    host: str
    port: int
    token: str = ""

    def names(self, host: str) -> bool:
        """Say whether a Host header names this service; a page of another site has the name of that site."""
        name, _, port = host.rpartition(":")
        if not name or host.endswith("]"):
            name, port = host, "80"
        name = name.removeprefix("[").removesuffix("]").lower()
        if port != str(self.port):
            return False
        is_everywhere = self.host in ("0.0.0.0", "::")
        return name in _LOOPBACK or name == self.host.lower() or (is_everywhere and _is_own(name))


def is_loopback(host: str) -> bool:
    """Say whether only this computer reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_own(name: str) -> bool:
    """Say whether a name is an address or the name of this computer, so that no other site can have it."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name == socket.gethostname().lower()
    return True


class Guard:
    """Refuses requests that must not be answered, and adds headers to every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        app = self._app
        if scope["type"] == "http":
            try:
                check(scope, self._access)
            except Refusal as refusal:
                app = refusal.response()
        await app(scope, receive, send_with_headers)


def check(scope: Scope, access: Access) -> None:
    """Check a request before anything else looks at it."""
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if not access.names(host):
        raise Refusal(403, f"this service is not {host[:100]!r}", "use the address that `serve` printed")
    _check_site(headers, host, scope)
    if scope["method"] not in ("GET", "HEAD"):
        raise Refusal(405, f"{scope['method'][:20]} is not allowed", "use GET", {"Allow": "GET, HEAD"})
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise Refusal(413, "the request has a body", "put parameters into the address")
    if len(scope["raw_path"]) + len(scope["query_string"]) > MAX_TARGET_BYTES:
        raise Refusal(414, "the address is too long", f"use at most {MAX_TARGET_BYTES:,} bytes")
    if access.token and is_api(scope["path"]):
        _check_token(headers, access.token)


def is_api(path: str) -> bool:
    """Say whether a path belongs to the API, not to the page."""
    return path == "/api" or path.startswith("/api/")


def _check_site(headers: Headers, host: str, scope: Scope) -> None:
    """Refuse requests that pages of other sites make; any site may link to the page."""
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise Refusal(403, f"pages of {origin[:100]} may not ask", "open the page of this service")
    is_link = headers.get("sec-fetch-mode") == "navigate" and not is_api(scope["path"])
    if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_link:
        raise Refusal(403, "pages of other sites may not ask", "open the page of this service")


def _check_token(headers: Headers, token: str) -> None:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), token.encode()):
        raise Refusal(
            401,
            "the token is missing or wrong",
            "send the header `Authorization: Bearer TOKEN`",
            {"WWW-Authenticate": "Bearer"},
        )


class Gone(Exception):
    """The client disconnected before its work began."""


class Work:
    """Limits how many requests run and wait. A late thread cannot be stopped and keeps its place until it ends."""

    def __init__(self, threads: int = 4, waiting: int = 32, deadline_s: float = 10.0) -> None:
        self._limiter = anyio.CapacityLimiter(threads)
        self._waiting, self._deadline_s = waiting, deadline_s

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Return what `work` returns, called in a thread."""
        if self._limiter.statistics().tasks_waiting >= self._waiting:
            raise Refusal(503, "too many requests wait", "try again in a second", _RETRY)
        place = object()
        try:
            with anyio.fail_after(self._deadline_s):
                await self._limiter.acquire_on_behalf_of(place)
                try:
                    if await request.is_disconnected():
                        raise Gone
                except BaseException:
                    self._limiter.release_on_behalf_of(place)
                    raise
                return await self._start(work, place)
        except TimeoutError:
            raise Refusal(
                504, f"no answer within {self._deadline_s:g} s", "try again, or use filters", _RETRY
            ) from None

    def _start(self, work: Callable[[], T], place: object) -> asyncio.Future[T]:
        """Call `work` in a thread.

        `anyio.to_thread` would free the place of a late thread at once, and its threads delay the end of the process.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[T] = loop.create_future()

        def finish(settle: Callable[[], None]) -> None:
            # Free the place before the answer: the loop may end right after it.
            self._limiter.release_on_behalf_of(place)
            if not done.done():  # Else the request timed out.
                settle()

        def call() -> None:
            settle: Callable[[], None]
            try:
                settle = partial(done.set_result, work())
            except BaseException as error:  # The request reports it.
                settle = partial(done.set_exception, error)
            with suppress(RuntimeError):  # The loop may have been closed meanwhile.
                loop.call_soon_threadsafe(finish, settle)

        threading.Thread(target=call, daemon=True).start()
        return done
