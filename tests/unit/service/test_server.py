"""Requests: what a command line sees of its client, which are left to it, and a service that does not answer."""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from codesearch.errors import ConfigError
from codesearch.service import client, server
from codesearch.service.address import identity, socket_path, with_address
from codesearch.service.server import Handlers, answer, serve, service_at


def asked(folder: Path, **fields: Any) -> bytes:
    """A request as a client sends it."""
    request = {
        "identity": identity(),
        "folder": str(folder),
        "arguments": ["query", "x"],
        "variables": {},
        "columns": 0,
        "streams": [(True, "utf-8"), (False, "latin-1")],
    }
    return json.dumps({**request, **fields}).encode() + b"\n"


def handlers(run: Any, passed_on: list[Exception]) -> Handlers:
    return Handlers(run, lambda: None, passed_on.append, lambda: None)


def never(arguments: list[str]) -> int:
    raise AssertionError(arguments)


def test_a_command_line_sees_the_streams_folder_and_variables_of_its_client(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PATH", "/ours")
    before = (os.getcwd(), dict(os.environ), sys.stdout)

    def run(arguments: list[str]) -> int:
        for stream in (sys.stdout, sys.stderr):
            stream.write(f"{stream.isatty()} {stream.encoding}\n")
        sys.stdout.write(f"{arguments} {os.getcwd()}\n")
        sys.stderr.write(f"{os.environ.get('NO_COLOR')} {os.environ['TERM']} {os.environ['PATH']}\n")
        return 1

    assert answer(asked(tmp_path, variables={"TERM": "xterm"}), handlers(run, [])) == {
        "code": 1,
        "stdout": f"True utf-8\n['query', 'x'] {tmp_path}\n",
        "stderr": "False latin-1\nNone xterm /ours\n",
    }
    assert (os.getcwd(), dict(os.environ), sys.stdout) == before


@pytest.mark.parametrize(
    ("variables", "columns", "expected"),
    [
        ({}, 132, "132"),
        ({}, 0, "80"),
        ({"COLUMNS": "40"}, 132, "40"),
        ({"COLUMNS": "wide"}, 132, "132"),
        ({"TERM": "dumb"}, 132, None),
    ],
    ids=str,
)
def test_the_width_is_that_of_the_clients_terminal(tmp_path, variables, columns, expected):
    seen = []

    def run(_: list[str]) -> int:
        seen.append(os.environ.get("COLUMNS"))
        return 0

    answer(asked(tmp_path, variables=variables, columns=columns), handlers(run, []))
    assert seen == [expected]


def test_another_version_is_not_answered(tmp_path):
    other = ["0.0.0", *identity()[1:]]
    assert answer(asked(tmp_path, identity=other), handlers(never, [])) == {}


@pytest.mark.parametrize("line", [b"", b"{", b"[]\n", b'{"identity": []}\n', b"\xff\n"], ids=str)
def test_what_is_no_request_is_passed_on(line):
    told: list[Exception] = []
    assert answer(line, handlers(never, told)) == {}
    assert len(told) == 1


def test_a_folder_that_is_gone_and_a_failure_are_left_to_the_client(tmp_path):
    told: list[Exception] = []

    def fail(_: list[str]) -> int:
        sys.stdout.write("half of it")
        raise RuntimeError("broken")

    assert answer(asked(tmp_path / "gone"), handlers(never, told)) == {}
    assert answer(asked(tmp_path), handlers(fail, told)) == {}
    assert [type(error) for error in told] == [FileNotFoundError, RuntimeError]


@pytest.mark.parametrize(
    "reply", [None, b"", b"{}\n", b"what?\n", b"[]\n", b'{"code": 0, "stdout": ""}\n'], ids=str
)
def test_a_service_that_does_not_answer_is_none(tmp_path, monkeypatch, reply):
    monkeypatch.setattr(client, "_PATIENCE_S", 0.1)
    home = str(tmp_path)
    os.makedirs(os.path.dirname(socket_path(home)))
    with socket.socket(socket.AF_UNIX) as listener:
        with_address(home, listener.bind)
        assert client.ask(home, ["query", "x"]) is None, "refused"
        listener.listen()
        pair = _replying(listener, reply)
        assert client.ask(home, ["query", "x"]) is None
        pair.join()


def _replying(listener: socket.socket, reply: bytes | None) -> Any:
    """Answer the next client with some bytes, or, without any, not before it has lost its patience."""
    from threading import Thread

    def work() -> None:
        connection, _ = listener.accept()
        with connection:
            client.receive(connection)
            if reply is None:
                connection.recv(1)  # Until the client closes.
            else:
                connection.sendall(reply)

    thread = Thread(target=work)
    thread.start()
    return thread


def test_without_sockets_serving_is_an_error_of_one_line(tmp_path, monkeypatch):
    monkeypatch.delattr(server.socket, "AF_UNIX")
    with pytest.raises(ConfigError, match="no Unix-domain sockets, which a service needs: query without one"):
        serve(tmp_path, handlers(never, []))


def test_nobody_serves_a_home_without_a_lock(tmp_path):
    assert service_at(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
