"""Connections whose clients are slow."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from codesearch.engine.engine import Engine
from codesearch.web import server
from codesearch.web.security import Access

ANSWER = b"x" * 50_000_000
REQUEST = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


async def large_answer(scope, receive, send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"50000000")]})
    await send({"type": "http.response.body", "body": ANSWER})


@pytest.fixture
def site(monkeypatch, tmp_path) -> Iterator[server.Site]:
    """Yield a service with short time limits and answers larger than the buffers of a connection."""
    monkeypatch.setattr(server, "_PATIENCE_S", 1.0)
    monkeypatch.setattr(server, "_READ_S", 1.0)
    monkeypatch.setattr(server, "make_app", lambda *args, **options: large_answer)
    with server.listen("127.0.0.1", 0) as listener:
        site = server.Site(Engine(tmp_path), listener, Access("127.0.0.1", 0, ""), pytest.fail)
        site.start()
        yield site
        site.stop()


def connect(site: server.Site) -> socket.socket:
    return socket.create_connection(site._listener.getsockname(), timeout=10)


def open_connections(site: server.Site) -> int:
    return len(site._server.server_state.connections)


def wait_until(count: int, site: server.Site) -> None:
    until = time.monotonic() + 10
    while open_connections(site) != count:
        assert time.monotonic() < until, f"{open_connections(site)} connections are open"
        time.sleep(0.05)


def read_answer(client: socket.socket) -> int:
    count = 0
    while count < len(ANSWER):
        count += len(client.recv(1 << 20))
    return count


def test_a_client_that_never_reads_its_answer_is_disconnected(site):
    with connect(site) as client:
        client.sendall(REQUEST)
        wait_until(1, site)
        wait_until(0, site)


def test_a_client_that_reads_can_send_more_requests_on_its_connection(site):
    with connect(site) as client:
        for _ in range(3):
            client.sendall(REQUEST)
            assert read_answer(client) >= len(ANSWER)
            time.sleep(0.5)
        assert open_connections(site) == 1


def test_a_client_that_sends_byte_by_byte_is_disconnected_at_the_time_limit(site):
    with connect(site) as client:
        started, sent = time.monotonic(), 0
        with pytest.raises(ConnectionError):
            for byte in REQUEST:
                client.sendall(bytes([byte]))
                sent += 1
                time.sleep(0.1)
        assert sent < len(REQUEST) and 0.9 < time.monotonic() - started < 3
