"""Requests that the service answers, several at a time, and those that it leaves to the client."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from codesearch.service import client
from codesearch.service.client import facts, identity, socket_path, with_address
from codesearch.service.server import Handlers, answer, service_at
from tests.command import ROOT, TIMEOUT


class Said(NamedTuple):
    out: str
    err: str = ""
    code: int = 0
    converse: Any = None


def asked(**fields: Any) -> bytes:
    """Return a request as a client sends it."""
    request = {"identity": identity(), **facts(["query", "x"])}
    return json.dumps({**request, **fields}).encode() + b"\n"


def handlers(run: Any, passed_on: list[Exception]) -> Handlers:
    return Handlers(run, lambda: None, passed_on.append, lambda: None)


def never(facts: dict[str, Any]) -> Said:
    raise AssertionError(facts)


def test_a_command_line_runs_with_the_facts_of_its_client():
    def run(facts: dict[str, Any]) -> Said:
        return Said(f"{facts['arguments']} {facts['folder']}", facts["variables"]["TERM"], 1)

    line = asked(folder="/there", variables={"TERM": "xterm"})
    assert answer(line, handlers(run, [])) == {
        "code": 1,
        "stdout": "['query', 'x'] /there",
        "stderr": "xterm",
    }


def test_a_client_sends_its_folder_variables_and_terminal(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CODESEARCH_HOME", "mine")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SECRET", "not for others")
    found = facts(["query", "x"])
    assert (found["folder"], found["home"], found["arguments"]) == (str(tmp_path), "mine", ["query", "x"])
    assert found["variables"]["NO_COLOR"] == "1" and "SECRET" not in found["variables"]
    assert found["streams"] == [
        (sys.stdout.isatty(), sys.stdout.encoding),
        (sys.stderr.isatty(), sys.stderr.encoding),
    ]


def test_a_client_of_another_version_is_not_answered():
    assert answer(asked(identity=["0.0.0", *identity()[1:]]), handlers(never, [])) == {}


@pytest.mark.parametrize("line", [b"", b"{", b"[]\n", b'{"folder": "/"}\n', b"\xff\n"], ids=str)
def test_an_invalid_request_is_reported_and_not_answered(line):
    reasons: list[Exception] = []
    assert answer(line, handlers(never, reasons)) == {}
    assert len(reasons) == 1


def test_a_failure_is_left_to_the_client():
    reasons: list[Exception] = []

    def fail(_: dict[str, Any]) -> Said:
        raise RuntimeError("broken")

    assert answer(asked(), handlers(fail, reasons)) == {}
    assert [type(error) for error in reasons] == [RuntimeError]


SERVE = """
import os, sys, threading
from pathlib import Path
from codesearch.service import server
from tests.unit.service.test_server import Said

server.DEADLINE_S, server.THREADS = float(sys.argv[2]), 4

def run(facts):
    seconds = float(facts["arguments"][1])
    os.write(1, b"started\\n")
    threading.Event().wait(seconds)
    return Said(f"slept {seconds}")

def ready():
    print("ready", flush=True)

server.serve(Path(sys.argv[1]), server.Handlers(run, ready, lambda e: print(e, file=sys.stderr), lambda: None))
"""
"""A service whose commands only sleep, with a deadline and four threads."""


@contextmanager
def serving(home: Path, deadline_s: float) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", SERVE, str(home), str(deadline_s)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=-1, stderr=-1) as process:
        assert process.stdout.readline() == b"ready\n", process.stderr.read()
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def service(request, tmp_path, monkeypatch) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """Yield a home and its service. Both sides are patient, unless the test gives the service a deadline."""
    monkeypatch.setattr(client, "DEADLINE_S", TIMEOUT)
    with serving(tmp_path, getattr(request, "param", TIMEOUT)) as process:
        yield tmp_path, process


def timed(home: Path, seconds: float) -> tuple[object, float]:
    started = time.monotonic()
    return client.ask(str(home), ["query", str(seconds)]), time.monotonic() - started


def in_background(service: tuple[Path, subprocess.Popen[bytes]], count: int) -> list[threading.Thread]:
    """Send requests that take too long; return when the service works on all of them."""
    home, process = service
    threads = [threading.Thread(target=timed, args=(home, TIMEOUT)) for _ in range(count)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert process.stdout.readline() == b"started\n"
    return threads


def test_a_slow_request_does_not_delay_others(service):
    home, process = service
    slow = in_background(service, 3)
    assert timed(home, 0)[0] == (0, "slept 0.0", "")
    assert all(thread.is_alive() for thread in slow)
    process.kill()
    for thread in slow:
        thread.join()


@pytest.mark.parametrize("service", [1.0], indirect=True)
def test_a_request_over_its_deadline_is_left_to_its_client(service):
    home, process = service
    reply, seconds = timed(home, 30)
    assert reply is None and 0.9 < seconds
    process.terminate()
    assert b"a request took over 1 s" in process.stderr.read()


def test_a_client_is_refused_at_once_if_every_thread_is_busy(service):
    home, process = service
    busy = in_background(service, 4)
    assert timed(home, 0)[0] is None
    assert all(thread.is_alive() for thread in busy)
    process.kill()
    for thread in busy:
        thread.join()


def test_a_service_with_stuck_requests_stops_at_once(service):
    home, process = service
    stuck = in_background(service, 4)
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(TIMEOUT) == 0
    assert time.monotonic() - started < TIMEOUT / 2  # The requests take longer.
    assert not Path(socket_path(str(home))).exists()
    for thread in stuck:
        thread.join()


def test_silent_clients_do_not_delay_others(service):
    home, _ = service
    silent = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    for one in silent:
        one.connect(socket_path(str(home)))
    assert timed(home, 0)[0] == (0, "slept 0.0", "")
    for one in silent:
        one.close()


@pytest.mark.parametrize(
    "reply", [None, b"", b"{}\n", b"what?\n", b"[]\n", b'{"code": 0, "stdout": ""}\n'], ids=str
)
def test_a_client_returns_none_without_a_valid_answer(tmp_path, monkeypatch, reply):
    monkeypatch.setattr(client, "DEADLINE_S", 0.1)
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
    """Answer the next client with `reply`; without one, wait until the client closes the connection."""
    from threading import Thread

    def work() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as file:
            file.readline()
            if reply is None:
                connection.recv(1)  # Returns when the client closes.
            else:
                connection.sendall(reply)

    thread = Thread(target=work)
    thread.start()
    return thread


def test_a_home_without_a_lock_has_no_service(tmp_path):
    assert service_at(tmp_path) is None
    assert list(tmp_path.iterdir()) == []
