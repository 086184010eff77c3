"""Who is answered, by host, origin and token, and the port and the thread that answer."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from codesearch.engine.engine import Engine
from codesearch.errors import ConfigError
from codesearch.web.app import Refusal, Work, failure, make_app

VARIABLE = "CODESEARCH_TOKEN"
_MAX_CONNECTIONS, _MOST_OPEN = 400, 600
"""More connections get status 503, and from the second number on, they are closed at once."""
_IDLE_S, _ANSWER_S = 10, 30
"""A connection is closed after this time without a whole request, and if its client does not take the answer."""
_MAX_HEAD_BYTES = 1 << 16
_STOP_S = 2.0
_MIN_TOKEN = 16
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses requests that must not be answered, and adds headers to every answer.

    `host` is what the service listens on, `token` what clients must send, "" for none.
    """

    app: ASGIApp
    host: str
    token: str = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_api = scope["path"].startswith("/api/")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                headers["Cache-Control"] = "no-store" if is_api else "no-cache"
            await send(message)

        app = self.app
        try:
            self._check(Headers(scope=scope), is_api)
        except HTTPException as refusal:
            app = failure(refusal)
        await app(scope, receive, send_with_headers)

    def _check(self, headers: Headers, is_api: bool) -> None:
        """Check a request before anything else looks at it; any site may link to the page."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._names(host):
            raise Refusal(403, f"this service is not {host[:100]!r}", "use the address that `serve` printed")
        site, is_link = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode") == "navigate"
        if origin not in (None, f"http://{host}") or (
            site not in ("none", "same-origin") and (is_api or not is_link)
        ):
            raise Refusal(403, "pages of other sites may not ask", "open the page of this service")
        if self.token and is_api:
            scheme, _, given = headers.get("authorization", "").partition(" ")
            is_right = secrets.compare_digest(given.strip().encode(), self.token.encode())
            if scheme.lower() != "bearer" or not is_right:
                cure = "send the header `Authorization: Bearer TOKEN`"
                raise Refusal(401, "the token is missing or wrong", cure, {"WWW-Authenticate": "Bearer"})

    def _names(self, host: str) -> bool:
        """Say whether a Host header names this service; a page of another site has the name of that site."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if is_loopback(name) or name == self.host.lower():
                return True
            # No other site can have an address or the name of this computer.
            is_everywhere = self.host in ("0.0.0.0", "::")
            return is_everywhere and (
                name == socket.gethostname().lower() or bool(ipaddress.ip_address(name))
            )
        except ValueError:
            return False


def is_loopback(host: str) -> bool:
    """Say whether only this computer reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
        cure = f"give --token-file FILE or set {VARIABLE}"
        raise ConfigError(f"other computers reach {host}, so a token is needed", cure)
    return token


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=512, dualstack_ipv6=both)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is taken", "give another with --port") from None
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        cure = "give another --host or --port"
        raise ConfigError(f"{host}:{port} cannot be used ({reason})", cure) from None


class _Timed(H11Protocol):
    """A connection that has limits of time, however slowly its client sends; uvicorn limits only a silent one."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._limit(_IDLE_S if len(self.connections) <= _MOST_OPEN else 0)

    def handle_events(self) -> None:
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._limit(_ANSWER_S)

    def on_response_complete(self) -> None:
        self._limit(_IDLE_S)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._late:
            self._late.cancel()

    def _limit(self, seconds: float) -> None:
        if self._late:
            self._late.cancel()
        self._late = self.loop.call_later(seconds, self.transport.abort)


def answer_http(
    engine: Engine, listener: socket.socket, host: str, token: str, failed: Callable[[Exception], None]
) -> Callable[[], None]:
    """Answer HTTP in a thread; return the function that stops it and waits for it up to two seconds."""
    server = uvicorn.Server(
        uvicorn.Config(
            Guard(make_app(engine, Work(), failed), host, token),
            http=_Timed,
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
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])), name="web", daemon=True)
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join(_STOP_S)

    return stop
