"""A system call that changes a home fails, or the process is killed at it: nothing is lost.

`strace` makes one call of a command fail, or kills the command at it. `make test` tries one call of three commands, and
`make test-thorough` both faults at all calls of all commands.
"""

import random
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexNotFoundError
from tests.command import TIMEOUT, Command, until
from tests.conftest import TINY_REPO, write_tree

ERRORS = {"write": "ENOSPC", "pwrite64": "ENOSPC", "mkdir": "ENOSPC", "fsync": "EIO", "rename": "EIO"}
"""System calls that fail, and the error of each."""
KILLED = (*ERRORS, "unlink", "unlinkat", "rmdir")
Names = list[tuple[str, str]]


def can_trace() -> bool:
    """Return whether strace is installed and may trace processes."""
    if not shutil.which("strace"):
        return False
    return (
        subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False).returncode
        == 0
    )


pytestmark = pytest.mark.skipif(not can_trace(), reason="needs strace")


@dataclass(frozen=True)
class Case:
    """A command that changes a home.

    Attributes:
        words: the command.
        prepare: makes the state before it.
        may_be_done: whether the same command fails with one line if its work is done already.
    """

    words: tuple[str, ...]
    prepare: Callable[[Command, Path], None]
    may_be_done: bool = False


def nothing(run: Command, tree: Path) -> None:
    """Leave an empty home."""


def indexed(run: Command, tree: Path) -> None:
    assert run("index", ".").returncode == 0


def changed(run: Command, tree: Path) -> None:
    indexed(run, tree)
    write_tree(tree, {"python/new.py": "def brand_new():\n    return 1\n"})
    (tree / "go/reader.go").unlink()


def in_segments(run: Command, tree: Path) -> None:
    for number in range(3):
        write_tree(tree, {f"python/part{number}.py": f"def part_{number}():\n    return 1\n"})
        indexed(run, tree)


def exported(run: Command, tree: Path) -> None:
    indexed(run, tree)
    assert run("export", tree.parent / "one.csx", "--with-code").returncode == 0
    assert run("remove", ".").returncode == 0


CASES = {
    "first index": Case(("index", "."), nothing),
    "update": Case(("index", "."), changed),
    "merge": Case(("index", ".", "--optimize"), in_segments),
    "import": Case(("import", "../one.csx"), exported),
    "remove": Case(("remove", "."), indexed, may_be_done=True),
}


@dataclass(frozen=True)
class Stage:
    """A prepared command: the home before it, what is found before and after it, and its system calls."""

    case: Case
    run: Command
    before: Path
    old: Names | None
    new: Names | None
    calls: Counter[str]


def found(home: Path) -> Names | None:
    """Return the functions that a query finds; None if nothing is indexed."""
    engine = Engine(home)
    try:
        hits = engine.search("int to string", Scope(), mode="semantic", top_k=99, refresh=False).hits
        return sorted((hit.path, hit.name) for hit in hits)
    except IndexNotFoundError:
        return None
    finally:
        engine.close()


def traced(run: Command, words: tuple[str, ...], *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["strace", "--quiet=all", *options, *run.line(*words)],
        cwd=run.folder,
        env=run.environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def copied(before: Path, home: Path) -> None:
    shutil.rmtree(home, ignore_errors=True)
    if before.exists():
        shutil.copytree(before, home)


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    """Prepare a command, run it once, and count its system calls."""
    case, tree = CASES[request.param], write_tree(tmp_path / "tree", TINY_REPO)
    run, before, log = Command(tree, tmp_path / "home"), tmp_path / "before", tmp_path / "calls"
    case.prepare(run, tree)
    if run.home.exists():
        run.home.rename(before)
    copied(before, run.home)
    old = found(run.home)
    done = traced(run, case.words, "-o", str(log), "-e", f"trace={','.join(KILLED)}")
    assert done.returncode == 0, done.stderr
    return Stage(
        case, run, before, old, found(run.home), Counter(re.findall(r"(?m)^(\w+)\(", log.read_text()))
    )


def places(stage: Stage, calls: Iterable[str]) -> list[tuple[str, int]]:
    """Return system calls, each with its number among the calls of the same name."""
    return [(name, number + 1) for name in calls for number in range(stage.calls[name])]


def error_at(name: str, number: int) -> str:
    return f"{name}:error={ERRORS[name]}:when={number}"


def kill_at(name: str, number: int) -> str:
    return f"{name}:signal=KILL:when={number}"


def check(stage: Stage, inject: str) -> None:
    """Run the command with a fault; then a query sees a complete state, and the command can be run again."""
    run = stage.run
    copied(stage.before, run.home)
    done = traced(run, stage.case.words, "-o", "/dev/null", "-e", f"inject={inject}")
    seen = found(run.home)
    assert "Traceback" not in done.stderr, (inject, done.stderr)
    assert seen in (stage.old, stage.new), (inject, done)
    if done.returncode == 0:
        assert seen == stage.new, (inject, done)
    again = run(*stage.case.words)
    assert again.returncode == 0 or (stage.case.may_be_done and again.returncode == 2), (inject, again)
    assert found(run.home) == stage.new, inject
    # A later build deletes a partial file that is an hour old.
    assert len(list(run.home.rglob("*.part"))) <= 1, inject


@pytest.mark.parametrize(
    ("stage", "fault"),
    [
        ("first index", kill_at),
        ("update", error_at),
        pytest.param("merge", kill_at, marks=pytest.mark.thorough),
        pytest.param("import", error_at, marks=pytest.mark.thorough),
        ("remove", kill_at),
    ],
    indirect=["stage"],
)
def test_a_failing_call_or_a_kill_loses_nothing(stage, fault):
    calls = ERRORS if fault is error_at else KILLED
    check(stage, fault(*random.Random(0).choice(places(stage, calls))))


@pytest.mark.thorough
@pytest.mark.parametrize("stage", CASES, indirect=True)
def test_a_failure_of_every_call_and_a_kill_at_every_one_lose_nothing(stage):
    for place in places(stage, ERRORS):
        check(stage, error_at(*place))
    for place in places(stage, KILLED):
        check(stage, kill_at(*place))


def test_a_watcher_that_is_killed_loses_nothing(tmp_path):
    check_watcher(tmp_path, 10)


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(1, 60))
def test_a_watcher_that_is_killed_at_every_write_loses_nothing(tmp_path, number):
    check_watcher(tmp_path, number)


def check_watcher(folder: Path, number: int) -> None:
    """Kill `codesearch watch` at a write while a file is saved."""
    tree = write_tree(folder / "tree", TINY_REPO)
    run = Command(tree, folder / "home")
    indexed(run, tree)
    old = found(run.home)
    inject = f"inject=write:signal=KILL:when={number}"
    line = ["strace", "--quiet=all", "-o", "/dev/null", "-e", inject, *run.line("watch", ".")]
    with subprocess.Popen(
        line, cwd=tree, env=run.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as watcher:
        try:
            assert watcher.stdout is not None
            watcher.stdout.readline()  # The folder is indexed, or the process was killed already.
            write_tree(tree, {"python/new.py": "def brand_new():\n    return 1\n"})
            until(lambda: watcher.poll() is not None or found(run.home) != old)
        finally:  # Without strace, its child would continue.
            subprocess.run(["pkill", "-KILL", "-P", str(watcher.pid)], check=False)
    seen = found(run.home)
    indexed(run, tree)
    new = found(run.home)
    assert ("python/new.py", "brand_new") in new
    assert seen in (old, new)
    fresh = Command(tree, folder / "fresh")
    indexed(fresh, tree)
    assert found(fresh.home) == new
