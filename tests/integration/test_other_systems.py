"""The command without functions that other systems lack: see `tests/other_system/sitecustomize.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.service.address import port_path, read_port, socket_path
from tests.command import ROOT, TIMEOUT, Command
from tests.conftest import TINY_REPO, write_tree
from tests.integration.test_serve_command import ANSWER, QUERY, bound_to_ask

OTHER_SYSTEM = ROOT / "tests" / "other_system"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="imitates the other system on Linux")


@pytest.fixture
def elsewhere(command: Command) -> Command:
    """Return the command on the imitated system."""
    return on_other_system(command)


def on_other_system(command: Command) -> Command:
    path = os.pathsep.join((str(OTHER_SYSTEM), command.environment["PYTHONPATH"]))
    return replace(command, variables={**command.variables, "PYTHONPATH": path})


def script(command: Command, text: str) -> str:
    """Run a script and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


IMPORT_ALL = """
import importlib, pkgutil, codesearch
names = [name for _, name, _ in pkgutil.walk_packages(codesearch.__path__, "codesearch.")]
for name in names:
    if not name.endswith(("__main__", "watch.inotify")):  # Only Linux has inotify.
        importlib.import_module(name)
print(len(names))
try:
    exec("import fcntl", {"__name__": "codesearch.somewhere"})
except ModuleNotFoundError as error:
    print(error)
"""


def test_no_module_imports_what_other_systems_do_not_have(elsewhere):
    count, error = script(elsewhere, IMPORT_ALL).splitlines()
    assert int(count) > 100
    assert error == "No module named 'fcntl'"


def test_a_folder_is_indexed_and_searched(elsewhere, command, tiny_repo, tiny_bundle):
    done = elsewhere("index", tiny_repo, "--model", tiny_bundle, "--device", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    assert "13 documents from 6 files" in done.stdout
    assert elsewhere(*QUERY).stdout == command(*QUERY).stdout == ANSWER
    (tiny_repo / "ruby/queue.rb").unlink()
    first, second = elsewhere(*QUERY).stdout.splitlines()
    assert first == ANSWER.splitlines()[0] and "queue.rb" not in second
    done = elsewhere("remove", tiny_repo)
    assert (done.returncode, done.stderr) == (0, "")
    assert list((elsewhere.home / "indexes").iterdir()) == []


def test_many_files_are_parsed_by_worker_processes(elsewhere, tmp_path, tiny_bundle):
    function = f"def f():\n    # {'long ' * 30}\n    return 1\n"
    write_tree(tmp_path / "many", {f"{number}.py": function * 100 for number in range(100)})
    done = elsewhere("index", "many", "--model", tiny_bundle, "--device", "cpu")
    assert (done.returncode, done.stderr) == (0, "")
    assert "many: 10,000 documents from 100 files" in done.stdout


@contextmanager
def serving(command: Command):
    with command.start("serve", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            line = process.stdout.readline()
            assert line.startswith(b"process %d answers" % process.pid), process.stderr.read()
            yield process
        finally:
            process.kill()


def test_a_service_answers_on_a_port_and_can_be_stopped(elsewhere, indexed, tmp_path):
    home = str(elsewhere.home)
    bound = on_other_system(replace(elsewhere, variables=bound_to_ask(tmp_path)))
    with serving(elsewhere) as process:
        assert bound(*QUERY).stdout == ANSWER
        assert not os.path.exists(socket_path(home))
        assert Path(port_path(home)).stat().st_mode & 0o777 == 0o600
        assert f"process {process.pid} answers queries" in elsewhere("status").stdout
        done = elsewhere("serve", "--stop")
        assert (done.returncode, done.stdout) == (0, f"process {process.pid} stopped\n")
        assert process.wait(TIMEOUT) == -9
    assert not os.path.exists(port_path(home))
    assert elsewhere(*QUERY).stdout == ANSWER


def test_only_clients_with_the_token_are_answered(elsewhere, indexed, tmp_path):
    bound = on_other_system(replace(elsewhere, variables=bound_to_ask(tmp_path)))
    with serving(elsewhere):
        port, token = read_port(str(elsewhere.home))
        path = Path(port_path(str(elsewhere.home)))
        path.write_text(f"{port} {token[::-1]}\n")
        done = bound(*QUERY)
        assert (done.returncode, done.stdout) == (1, "") and "no service answered" in done.stderr
        path.write_text(f"{port} {token}\n")
        assert bound(*QUERY).stdout == ANSWER


def test_a_killed_service_does_not_block_queries_and_is_replaced(elsewhere, indexed, tmp_path):
    bound = on_other_system(replace(elsewhere, variables=bound_to_ask(tmp_path)))
    with serving(elsewhere) as process:
        first = read_port(str(elsewhere.home))
        process.kill()
        process.wait(TIMEOUT)
    assert read_port(str(elsewhere.home)) == first
    assert elsewhere(*QUERY).stdout == ANSWER
    with serving(elsewhere):
        assert read_port(str(elsewhere.home)) != first
        assert bound(*QUERY).stdout == ANSWER


MERGE = """
import sys
from pathlib import Path
from codesearch import Engine, Scope
from codesearch.build import policy

policy._GROWTH = 1_000
root, home = Path("tiny"), Path("home")

def segments():
    return sorted(path.name for path in home.glob("indexes/*/segments/*"))

def change(name):
    (root / "a.py").write_text(f"def {name}():\\n    return 1\\n")
    writer.index(root)

def found(engine, query):
    return [hit.name for hit in engine.search(query, Scope()).hits][:1]

writer, reader = Engine(home, device="cpu"), Engine(home, device="cpu")
change("first")
print(found(reader, "first"), segments())
change("second")
print(segments())  # The reader has the first one open.
print(found(reader, "second"), segments())
change("third")
print(segments())
reader.close()
change("fourth")
print(found(writer, "fourth"), segments())
"""


def test_segments_that_a_reader_has_open_are_deleted_after_a_later_merge(elsewhere, tiny_repo):
    lines = script(elsewhere, MERGE).splitlines()
    assert lines == [
        "['first'] ['000001']",
        "['000001', '000002']",
        "['second'] ['000001', '000002']",
        "['000002', '000003']",
        "['fourth'] ['000004']",
    ]


def test_an_index_that_a_service_has_open_can_be_removed_and_rebuilt(elsewhere, indexed, tmp_path):
    with serving(elsewhere):
        assert elsewhere(*QUERY).stdout == ANSWER
        assert elsewhere("remove", indexed).returncode == 0
        assert "nothing is indexed" in elsewhere(*QUERY).stderr
        write_tree(indexed, TINY_REPO)
        assert elsewhere("index", indexed).returncode == 0
        assert elsewhere(*QUERY, "--no-service").stdout == elsewhere(*QUERY).stdout != ""


def test_doctor_shows_that_no_network_is_needed(elsewhere, tiny_bundle):
    done = elsewhere("doctor", "--offline", "--device", "cpu", shipped=tiny_bundle)
    assert (done.returncode, done.stderr) == (0, "")
    assert "ok    offline      indexed and queried without a network" in done.stdout
