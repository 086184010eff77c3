"""Processes that are killed at any moment: no process remains, and every query sees a complete state."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexNotFoundError
from tests.command import TIMEOUT, Command, until
from tests.conftest import write_tree

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="lists processes as on Linux")
_FILES, _FUNCTIONS = 60, 60


def source(file: int, version: int) -> str:
    return "".join(
        f"def task_{file}_{number}_{version}(item):\n    '''Do task {number}.'''\n    return item + {number}\n\n"
        for number in range(_FUNCTIONS)
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", {f"part{file}.py": source(file, 0) for file in range(_FILES)})


def descendants(pid: int) -> set[int]:
    """Return the descendants of a process."""
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(waiting.pop())], capture_output=True, text=True, check=False
        )
        children = {int(word) for word in listed.stdout.split()} - found
        found |= children
        waiting += children
    return found


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def with_workers(tree: Path, home: Path, bundle: Path) -> tuple[subprocess.Popen[bytes], set[int]]:
    """Index a large tree; return the process when it has started workers, and these."""
    write_tree(tree, {f"more{file}.py": source(file, 1) * 4 for file in range(100)})
    running = Command(tree, home).start("index", ".", "--model", bundle, stdout=-1, stderr=-1)
    workers: set[int] = set()
    until(lambda: workers.update(descendants(running.pid)) or workers, unless=running.poll)
    return running, workers


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.thorough)],
)
def test_no_worker_outlives_its_parent(tree, home, tiny_bundle, number):
    running, workers = with_workers(tree, home, tiny_bundle)
    running.send_signal(number)
    _, err = running.communicate(timeout=TIMEOUT)  # A worker that kept the pipe open would block this.
    assert b"Traceback" not in err
    until(lambda: not any(map(is_running, workers)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_with_a_task_that_takes_forever_ends_with_its_parent(tree, home, tiny_bundle, number):
    running, workers = with_workers(tree, home, tiny_bundle)
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    try:
        running.send_signal(number)
        _, err = running.communicate(timeout=TIMEOUT)
        assert running.returncode == 128 + number and err.startswith(b"interrupted: what is indexed stays")
        until(lambda: not any(map(is_running, workers)))
    finally:
        for worker in filter(is_running, workers):
            os.kill(worker, signal.SIGKILL)


def test_two_interrupts_in_a_row_end_the_command(tree, home, tiny_bundle):
    running, _ = with_workers(tree, home, tiny_bundle)
    running.send_signal(signal.SIGINT)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=TIMEOUT)
    assert (running.returncode, err) == (
        130,
        b"interrupted: what is indexed stays, and the next run does the rest\n",
    )


def answer(home: Path, tree: Path, bundle: Path) -> list[tuple[str, str]] | None:
    """Return what a new engine finds; None if nothing is indexed."""
    engine = Engine(home, model=bundle)
    try:
        scope = Scope(roots=(tree,))
        hits = engine.search("task 7", scope, top_k=200, mode="lexical", refresh=False).hits
        return sorted((hit.path, hit.name) for hit in hits)
    except IndexNotFoundError:
        return None
    finally:
        engine.close()


def check_kills(tree: Path, home: Path, bundle: Path, kills: int) -> None:
    """Kill `index` at random moments while the tree changes; each query sees the old or the new state of a file."""
    chance = random.Random(kills)
    command = Command(tree, home)
    version = 0
    for kill in range(kills):
        if kill % 3 == 0:
            version += 1
            for file in chance.sample(range(_FILES), 5):
                (tree / f"part{file}.py").write_text(source(file, version))
        running = command.start(
            "index", ".", "--model", bundle, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(chance.uniform(0.05, 1.2))
        running.kill()
        running.wait()
        found = answer(home, tree, bundle)
        if found:
            versions: dict[str, set[str]] = {}
            for path, name in found:
                versions.setdefault(path, set()).add(name.rpartition("_")[2])
            assert all(len(seen) == 1 for seen in versions.values()), "a file is indexed in two versions"
    assert command("index", ".", "--model", bundle).returncode == 0
    fresh = home.parent / "fresh"
    assert Command(tree, fresh)("index", ".", "--model", bundle).returncode == 0
    assert answer(home, tree, bundle) == answer(fresh, tree, bundle)
    leftovers = [path for path in home.rglob("*.part")]
    assert leftovers == []


def test_kills_at_random_moments_lose_nothing(tree, home, tiny_bundle):
    check_kills(tree, home, tiny_bundle, 4)


@pytest.mark.thorough
def test_two_hundred_kills_lose_nothing(tree, home, tiny_bundle):
    check_kills(tree, home, tiny_bundle, 200)
