"""An odd message of a client gets an error or no answer, and the next message is answered as usual."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import Command
from tests.conftest import index_by_engine, write_tree

VALUES = [
    '{"a": 1}',
    "[1]",
    "null",
    "true",
    "1e999",
    "NaN",
    "9" * 6_000,
    r'"\ud83d"',
    '"' + "x" * 100_000 + '"',
]
BODIES = [
    b"",
    b"   ",
    b"null",
    b"[]",
    b'"x"',
    b"1",
    b"{}",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\x00",
    b"x" * 3_000_000,
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 3, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 4, "result": {}}',
    b'{"jsonrpc": "2.0", "id": [4], "error": {"code": "x"}}',
    '{"jsonrpc": "2.0", "id": 4, "method": "p\u2028ng"}'.encode(),
    *(f'{{"jsonrpc": "2.0", "id": {value}, "method": "ping"}}'.encode() for value in VALUES),
    *(f'{{"jsonrpc": "2.0", "id": 5, "method": {value}}}'.encode() for value in VALUES),
]
OF_MCP = [
    *(f'{{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {value}}}' for value in VALUES),
    *(
        f'{{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {{"name": {name}, "arguments": {value}}}}}'
        for value in (*VALUES, r'{"query": "\ud83d"}', r'{"place": "a.py::\ud83d"}', r'{"\ud83d": "a"}')
        for name in ('"search"', '"read"', r'"\ud83d"')
    ),
    *(
        f'{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {{"requestId": {value}}}}}'
        for value in VALUES
    ),
]
CALLS: list[tuple[str, dict[str, str]]] = [
    ("read", {"place": "/etc/x:1"}),
    ("search", {"query": "alpha"}),
    ("status", {}),
    ("read", {"place": "a.py:1"}),
    ("usages", {"place": "alpha"}),
    ("outline", {}),
]
OF_LSP = [
    *(f'{{"jsonrpc": "2.0", "id": 6, "method": "workspace/symbol", "params": {value}}}' for value in VALUES),
    *(
        f'{{"jsonrpc": "2.0", "id": 6, "method": "workspace/symbol", "params": {{"query": {value}}}}}'
        for value in VALUES
    ),
    *(
        f'{{"jsonrpc": "2.0", "method": "textDocument/{change}", "params": {{"textDocument": {{"uri": {value}}}}}}}'
        for value in VALUES
        for change in ("didOpen", "didChange", "didSave")
    ),
    *(f'{{"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {{"id": {value}}}}}' for value in VALUES),
]


@pytest.fixture
def start(tmp_path: Path, home: Path, tiny_bundle: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    # Not every name of a folder is UTF-8.
    name = os.fsdecode(b"src\xff") if sys.platform == "linux" else "src"
    root = write_tree(tmp_path / name, {"a.py": "def alpha():\n    pass\n"})
    index_by_engine(root, home, tiny_bundle)
    started = []

    def start(command: str) -> subprocess.Popen[bytes]:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        started.append(Command(root, home).start(command, **streams))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def send(process: subprocess.Popen[bytes], *messages: bytes) -> None:
    assert process.stdin
    process.stdin.write(b"".join(messages))
    process.stdin.flush()


def test_a_session_of_an_agent_goes_on_after_odd_messages(start):
    pytest.importorskip("mcp")
    server = start("mcp")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    send(
        server,
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode() + b"\n",
    )
    send(server, b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    for number, body in enumerate([*BODIES, *map(str.encode, OF_MCP)], 1_000):
        send(server, body, b'\n{"jsonrpc": "2.0", "id": %d, "method": "ping"}\n' % number)
        answers = (json.loads(line) for line in server.stdout)
        assert next((True for one in answers if one.get("id") == number), False), body[:200]
    for number, (tool, arguments) in enumerate(CALLS, 5_000):
        call = {"name": tool, "arguments": arguments}
        send(
            server,
            json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}).encode(),
        )
        send(server, b"\n")
        result = next(one["result"] for one in map(json.loads, server.stdout) if one.get("id") == number)
        text = result["content"][0]["text"]
        assert ("alpha" in text or "src" in text) != result["isError"], text


def test_an_editor_is_answered_after_odd_messages(start):
    pytest.importorskip("pygls")
    server = start("lsp")

    def framed(body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n" % len(body) + body

    def answers() -> Iterator[dict[str, object]]:
        while head := server.stdout.readline():
            size = int(head.split(b":")[1])
            while server.stdout.readline().strip():
                pass
            yield json.loads(server.stdout.read(size))

    hello = {"processId": None, "rootUri": None, "capabilities": {}}
    send(
        server,
        framed(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()),
    )
    send(server, framed(b'{"jsonrpc": "2.0", "method": "initialized", "params": {}}'))
    asked = b'{"jsonrpc": "2.0", "id": %d, "method": "workspace/symbol", "params": {"query": "alpha"}}'
    for number, body in enumerate([*BODIES, *map(str.encode, OF_LSP)], 1_000):
        send(server, framed(body), framed(asked % number))
        assert next((True for one in answers() if one.get("id") == number), False), body[:200]
