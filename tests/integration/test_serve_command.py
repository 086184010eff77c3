"""`codesearch serve`: its answers equal the output of the command, and without a service the command works."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.service.client import socket_path
from tests.command import ROOT, TIMEOUT, Command, until
from tests.conftest import TINY_REPO, index_by_engine, write_tree
from tests.integration.test_terminal import on_terminal

QUERY = ("query", "--all", "push", "-k", "2", "--vimgrep")
ANSWER = (
    "tiny/python/convert.py:17:1:def push(self, item)\ntiny/ruby/queue.rb:4:1:def push(element, priority)\n"
)


@contextmanager
def serving(command: Command, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a service. It accepts clients as soon as it has printed its first line."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with command.start("serve", *options, **streams) as process:
        try:
            line = process.stdout.readline().decode()
            home = command.home.absolute()
            assert line == (
                f"process {process.pid} answers queries for {home}: "
                "stop it with Ctrl-C or `codesearch serve --stop`\n"
            ), process.stderr.read()
            yield process
        finally:
            process.send_signal(signal.SIGCONT)  # A failed test may have stopped it.
            process.terminate()
            process.wait(TIMEOUT)


def index(folder: Path, home: Path, bundle: Path, files: dict[str, str] = TINY_REPO) -> None:
    index_by_engine(write_tree(folder, files), home, bundle)


@pytest.fixture(scope="module")
def alone(tmp_path_factory, tiny_bundle) -> Command:
    """Return the command in a folder with an indexed tree; it asks no service."""
    folder = tmp_path_factory.mktemp("serve")
    index(folder / "tiny", folder / "home", tiny_bundle)
    return Command(folder, folder / "home", {"CODESEARCH_NO_SERVICE": "1"})


@pytest.fixture(scope="module")
def asking(alone, tmp_path_factory) -> Iterator[Command]:
    """Yield the command for the same tree; it fails unless the service answers."""
    with serving(alone, "--no-watch"):
        yield replace(alone, variables=bound_to_ask(tmp_path_factory.mktemp("bound")))


def bound_to_ask(folder: Path) -> dict[str, str]:
    """Return variables with which a command fails unless a service answers: typer cannot be imported."""
    poison = write_tree(folder / "poison", {"typer.py": "raise RuntimeError('no service answered')\n"})
    return {"PYTHONPATH": os.pathsep.join((str(poison), str(ROOT)))}


def timeless(text: str) -> str:
    """Remove what differs between two runs of a command: times and the ids of links."""
    return re.sub(r'in \d+ ms|"seconds": [\d.e-]+|(?<=\x1b]8;)id=[^;]*', "", text)


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "--all", "convert", "int", "to", "string"),
        ("query", "--all", "push", "-k", "2", "--explain"),
        ("query", "--all", "push", "--json"),
        ("query", "--all", "push", "--jsonl", "--all-code"),
        QUERY,
        ("query", "--all", "getJson", "--context", "2", "--lang", "javascript"),
        ("query", "--all", "push", "--path", "*.absent"),
        ("query", "--all", "push", "--path", "*.absent", "--jsonl"),
        ("query", "--all", "push", "--path", "./tiny/*.rb", "--path", "!java/"),
        ("query", "push", "tiny/ruby", "./tiny/python/convert.py"),
        ("query", "--all", "push", "--root", "tiny", "--home", "home"),
        ("query", "--all", "push", "--home=tiny/../home"),
        ("similar", "--all", "tiny/python/convert.py:5", "-k", "3"),
        ("similar", "--all", "tiny/python/convert.py:5", "--json", "--kind", "method"),
    ],
    ids=" ".join,
)
def test_a_service_prints_what_the_command_prints(asking, alone, arguments):
    same(asking(*arguments), alone(*arguments))


@pytest.mark.parametrize("arguments", [("-", "tiny/ruby"), ("--flat", "-k", "2", "-")], ids=" ".join)
def test_a_service_gets_the_query_that_its_client_reads_from_stdin(asking, alone, arguments):
    one, other = (command("query", *arguments, "--all", input="push\n") for command in (asking, alone))
    same(one, other)
    assert "def push" in one.stdout


@pytest.mark.parametrize(
    "arguments", [("naïve push", "--json", "--mode", "lexical"), ("naïve push", "-k", "1")], ids=str
)
def test_a_service_answers_in_the_encoding_of_the_client(asking, alone, arguments):
    ascii_only = (
        replace(command, variables={**command.variables, "PYTHONIOENCODING": "ascii"})
        for command in (asking, alone)
    )
    same(*(command("query", "--all", "naïve push", *arguments) for command in ascii_only))


def same(one: subprocess.CompletedProcess[str], other: subprocess.CompletedProcess[str]) -> None:
    assert (one.returncode, timeless(one.stdout), one.stderr) == (
        other.returncode,
        timeless(other.stdout),
        other.stderr,
    )
    assert one.stdout or one.stderr or one.returncode == 1


def test_paths_are_shown_from_the_working_directory_of_the_client(asking):
    inside = asking("query", "pop", "-k", "1", "--vimgrep", cwd=asking.folder / "tiny" / "python")
    assert (inside.stdout, inside.stderr) == ("convert.py:21:1:def pop(self)\n", "")


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_on_a_terminal_a_service_prints_what_the_command_prints(asking, alone, variables):
    one, other = (
        on_terminal(
            replace(command, variables={**command.variables, **variables}),
            *("query", "--all", "pop", "-k", "2"),
            stdout=True,
            stderr=True,
        )
        for command in (asking, alone)
    )
    assert (one[0], timeless(one[1])) == (0, timeless(other[1]))
    assert ("\x1b[36m" in one[1]) == (variables == {})


def test_the_client_itself_reports_errors_in_the_command_line(asking, alone):
    by_itself = replace(alone, variables={})
    for arguments in (
        ("query",),
        ("query", "--all", "push", "--bogus"),
        ("query", "--all", "--help"),
        ("query", "--all", "?!"),
        ("query", "--all", "push", "-k", "0"),
        ("query", "--all", "push", "--json", "--jsonl"),
        ("query", "--all", "push", "--root", "absent"),
        ("query", "--all", "push", "--model", "absent"),
        ("similar", "--all", "tiny/python/absent.py:5"),
    ):
        one, other = by_itself(*arguments), alone(*arguments)
        assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)


@pytest.mark.parametrize(
    ("arguments", "variables"), [(("--no-service",), {}), ((), {"CODESEARCH_NO_SERVICE": "1"})], ids=str
)
def test_an_option_or_variable_prevents_asking_the_service(asking, arguments, variables):
    done = replace(asking, variables={**asking.variables, **variables})(*QUERY, *arguments)
    assert done.returncode == 1
    assert "no service answered" in done.stderr


def test_only_query_and_similar_ask_the_service(asking):
    assert "no service answered" in asking("status").stderr


def test_a_closed_pipe_is_not_an_error(asking):
    with asking.start("query", "--all", "push", "-k", "13", "-C", "500", stdout=-1, stderr=-1) as query:
        query.stdout.close()
        assert query.stderr.read() == b""
        assert query.wait() == 0


def test_output_that_cannot_be_written_is_an_error(asking):
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full here")
    with full.open("w") as output, asking.start("query", "--all", "push", stdout=output, stderr=-1) as query:
        assert query.stderr.read() == b"error: output: No space left on device\n"
        assert query.wait() == 2


def test_empty_partial_and_invalid_requests_do_not_disturb_the_service(asking):
    for said in (b"", b'{"identity": ', b"[]\n", b"\xff\n", b'{"identity": []}\n'):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(socket_path(str(asking.home)))
            client.sendall(said)
    assert asking(*QUERY).stdout == ANSWER


def test_the_folder_and_the_socket_are_private(asking):
    path = Path(socket_path(str(asking.home)))
    assert [entry.stat().st_mode & 0o777 for entry in (path, path.parent)] == [0o600, 0o700]


def test_a_second_service_is_refused_and_status_shows_the_first(asking, alone):
    (line,) = (line for line in alone("status").stdout.splitlines() if line.startswith("process "))
    pid = int(line.split()[1])
    assert line == f"process {pid} answers queries (`codesearch serve`)"
    assert alone.fails("serve") == (
        f"error: process {pid} answers for {alone.home} already: stop it with `codesearch serve --stop`\n"
    )
    assert asking(*QUERY).stdout == ANSWER


def test_options_of_the_web_page_need_the_web_page(command):
    said = "error: --host, --port and --token-file need --web\n"
    assert command.fails("serve", "--port", "7178") == said


WITHOUT_SOCKETS = "import socket; del socket.AF_UNIX; from codesearch.cli.entry import run; run()"


def test_a_system_without_sockets_has_no_service(command):
    line = [sys.executable, "-c", WITHOUT_SOCKETS, "serve"]
    done = subprocess.run(line, cwd=command.folder, env=command.environment, capture_output=True, check=False)
    cure = b"run commands without a service, or give --web"
    assert (done.returncode, done.stderr) == (
        2,
        b"error: this system has no Unix-domain sockets: %b\n" % cure,
    )


def test_an_update_and_a_removal_are_seen_by_the_next_query(command, home, tmp_path, tiny_bundle):
    files = {"a.py": "def first():\n    return 1\n"}
    index(tmp_path / "tiny", home, tiny_bundle, files)
    with serving(command, "--no-watch"):
        bound = replace(command, variables=bound_to_ask(tmp_path))
        asked = ("query", "--all", "first second", "--vimgrep")
        assert bound(*asked).stdout == "tiny/a.py:1:1:def first()\n"
        index(tmp_path / "tiny", home, tiny_bundle, {"a.py": "def second():\n    return 2\n"})
        assert bound(*asked).stdout == "tiny/a.py:1:1:def second()\n"
        assert command("remove", "tiny").returncode == 0
        assert command(*asked).stderr == (
            f"error: nothing is indexed in {home}: run `codesearch index FOLDER` first\n"
        )


def test_after_kill_9_queries_still_work_and_a_new_service_can_start(indexed, command, home, tmp_path):
    with serving(command, "--no-watch") as process:
        process.kill()
        process.wait(TIMEOUT)
        assert Path(socket_path(str(home))).exists()
        assert command(*QUERY).stdout == ANSWER
        assert command("serve", "--stop").stdout == f"no service runs for {home}\n"
    with serving(command, "--no-watch") as process:
        assert replace(command, variables=bound_to_ask(tmp_path))(*QUERY).stdout == ANSWER
        done = command("serve", "--stop")
        assert (done.returncode, done.stdout) == (0, f"process {process.pid} stopped\n")
        assert process.wait(TIMEOUT) == 0
        assert process.stderr.read() == b""
    assert not Path(socket_path(str(home))).exists()
    assert command("serve", "--stop").returncode == 1


def test_a_service_with_a_long_home_path_ends_at_ctrl_c(tiny_repo, command, tmp_path, tiny_bundle):
    home = tmp_path / ("long-" * 30)
    index(tiny_repo, home, tiny_bundle)
    here = replace(command, home=home)
    with serving(here, "--no-watch") as process:
        assert replace(here, variables=bound_to_ask(tmp_path))(*QUERY).stdout == ANSWER
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    assert not Path(socket_path(str(home))).exists()


def test_an_interrupted_client_does_not_stop_the_service(indexed, command, tmp_path):
    with serving(command, "--no-watch") as process:
        bound = replace(command, variables=bound_to_ask(tmp_path))
        process.send_signal(signal.SIGSTOP)  # Makes the client wait.
        with bound.start(*QUERY, stdout=-1, stderr=-1) as query:
            wait_for_connection(query.pid)
            query.send_signal(signal.SIGINT)
            assert query.stderr.read() == b"interrupted\n"
            assert query.wait() == 130
        process.send_signal(signal.SIGCONT)
        assert bound(*QUERY).stdout == ANSWER


def wait_for_connection(pid: int) -> None:
    """Wait until a process has a connection open."""
    descriptors = Path(f"/proc/{pid}/fd")
    if not descriptors.exists():
        pytest.skip("no /proc here")
    until(lambda: any(map(is_socket, descriptors.iterdir())))


def is_socket(descriptor: Path) -> bool:
    """Return whether a link of /proc/PID/fd is an open socket."""
    try:
        return os.readlink(descriptor).startswith("socket:")
    except FileNotFoundError:
        return False
