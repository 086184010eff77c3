"""Listen on a port and answer in a thread, as long as the service runs."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import uvicorn

from codesearch.engine.engine import Engine
from codesearch.errors import ConfigError
from codesearch.web.app import make_app
from codesearch.web.security import Access, is_loopback

VARIABLE = "CODESEARCH_TOKEN"
_MAX_CONNECTIONS = 400
"""More connections get status 503. Each is closed after `_IDLE_S` without a request."""
_IDLE_S = 10
_MAX_HEAD_BYTES = 1 << 16
_STOP_S = 2.0
_MIN_TOKEN = 16


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
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
    except OSError as error:
        raise ConfigError(f"{host} cannot be used ({error.strerror})", "give another --host") from None
    try:
        if os.name != "nt":  # On Windows the option would let two programs share a port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(512)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is taken", "give another with --port") from None
        raise ConfigError(
            f"{host}:{port} cannot be used ({error.strerror})", "give another --host or --port"
        ) from None
    return listener


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
