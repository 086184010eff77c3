"""`codesearch serve --web` as a process."""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.command import TIMEOUT, Command, free_port, until
from tests.conftest import TINY_REPO, index_by_engine, write_tree

pytest.importorskip("uvicorn", reason="the extra `web` is not installed")


@contextmanager
def running(command, *options):
    """Run a service; yield its address."""
    port = free_port()
    line = ("serve", "--web", "--port", port, *options)
    with command.start(*line, stdout=subprocess.PIPE, text=True) as service:
        try:
            assert service.stdout.readline().strip() == f"http://127.0.0.1:{port}/"
            service.stdout.readline()
            yield f"http://127.0.0.1:{port}/"
        finally:
            service.terminate()


@pytest.fixture(scope="module")
def alone(tmp_path_factory, tiny_bundle):
    """The command in the folder of an indexed tree."""
    folder = tmp_path_factory.mktemp("web")
    index_by_engine(write_tree(folder / "tiny", TINY_REPO), folder / "home", tiny_bundle)
    return Command(folder, folder / "home")


@pytest.fixture(scope="module")
def site(alone):
    with running(alone) as address:
        yield address


def names(site):
    """Ask the service, again if it is too busy."""
    found = []

    def answers():
        try:
            with urllib.request.urlopen(f"{site}api/v1/search?q=push", timeout=TIMEOUT) as answer:
                found[:] = [hit["qualified_name"] for hit in json.load(answer)["hits"]]
        except urllib.error.HTTPError as error:
            if error.code not in (503, 504):
                raise
            error.close()
            return False
        return True

    until(answers)
    return found


def test_200_clients_that_hang_do_not_block_another(site):
    names(site)
    port = urlsplit(site).port
    heads = (b"", b"GET /api/v1/search?q=a HTTP/1.1\r\nHost: ")
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
    try:
        for number, client in enumerate(clients):
            client.sendall(heads[number % 2])
        assert "Stack.push" in names(site)
    finally:
        for client in clients:
            client.close()


UNFINISHED = [
    b"",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\na",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HT",
]


def test_a_connection_without_a_whole_request_is_closed_also_if_its_client_sends_on(tmp_path, monkeypatch):
    from codesearch.engine.engine import Engine
    from codesearch.web import site

    monkeypatch.setattr(site, "_IDLE_S", 0.5)
    monkeypatch.setattr(site, "_MOST_OPEN", 12)
    listener = site.listen("127.0.0.1", 0)
    stop = site.answer_http(Engine(tmp_path), listener, "127.0.0.1", "", print)
    clients = [socket.create_connection(listener.getsockname()) for _ in range(20)]
    try:
        for number, client in enumerate(clients):
            client.settimeout(0.05)
            with suppress(OSError):  # One of too many.
                client.sendall(UNFINISHED[number % len(UNFINISHED)])
        is_open = dict.fromkeys(clients, True)

        def all_closed() -> bool:
            for client in [client for client, still in is_open.items() if still]:
                try:
                    client.sendall(b"a")
                    is_open[client] = client.recv(1 << 16) != b""
                except TimeoutError:
                    pass
                except OSError:
                    is_open[client] = False
            return not any(is_open.values())

        until(all_closed)
        with urllib.request.urlopen(f"http://127.0.0.1:{listener.getsockname()[1]}/") as page:
            assert page.status == 200
    finally:
        for client in clients:
            client.close()
        stop()


def test_clients_that_ask_and_disconnect_do_not_block_another(site):
    port = urlsplit(site).port
    head = f"GET /api/v1/search?q=push HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(head)
    assert "Stack.push" in names(site)


def test_a_second_service_is_refused(site, alone):
    done = alone("serve", "--web", "--port", free_port())
    assert done.returncode == 2 and "answers for" in done.stderr


def test_a_relative_home_is_served(indexed, command, home):
    with running(command, "--home", os.path.relpath(home, command.folder)) as site:
        assert "Stack.push" in names(site)


def test_another_address_needs_a_token(indexed, command):
    done = command("serve", "--web", "--host", "0.0.0.0", "--port", free_port())
    assert done.returncode == 2 and "--token-file" in done.stderr


def test_a_port_in_use_is_an_error_with_a_cure(indexed, command):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = command("serve", "--web", "--port", taken.getsockname()[1])
    assert done.returncode == 2 and "is taken: give another with --port" in done.stderr


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_commands_of_the_documentation_work(site):
    page = (Path(__file__).parents[2] / "docs/web.md").read_text("utf-8")
    lines = re.findall(r"^curl .*$", page, re.MULTILINE)
    names(site)  # The first answer takes longer.
    answers = []
    for line in lines:
        asked = [*shlex.split(line.replace("http://127.0.0.1:7177/", site)), "--fail", "--silent"]
        answers.append(json.loads(subprocess.run(asked, capture_output=True, check=True).stdout))
    search, status = answers
    assert {hit["language"] for hit in search["hits"]} == {"python"}
    assert [root["files"] for root in status["roots"]] == [6]


def test_a_service_survives_the_removal_of_its_home(indexed, command, home, tiny_bundle):
    with running(command, "--no-watch") as site:
        assert "Stack.push" in names(site)
        shutil.rmtree(home)
        with pytest.raises(urllib.error.HTTPError) as caught:
            names(site)
        answer = json.load(caught.value)
        assert caught.value.code == 404 and answer["error"]["message"] == f"nothing is indexed in {home}"
        done = command("query", "push", "--root", indexed)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "codesearch index" in done.stderr
        assert command("index", indexed, "--model", tiny_bundle).returncode == 0
        assert "Stack.push" in names(site)
