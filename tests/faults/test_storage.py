"""A home that is full or cannot be written: queries still answer, and other commands fail with one line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codesearch.engine.engine import Engine
from codesearch.engine.scope import Scope
from codesearch.errors import IndexStoreError
from codesearch.store.catalogue import index_folder
from tests.command import TIMEOUT, Command
from tests.conftest import TINY_REPO, write_tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs the file size limit of POSIX")
LIMITS = (0, 1, 100, 600, 2_000, 5_000, 10_000, 20_000)
"""Largest file in bytes. Each limit makes another write fail: lock, rows, vectors, database or manifest."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", TINY_REPO)


def one_line(done) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("size", LIMITS)
def test_a_first_index_without_space_is_a_one_line_error_that_names_the_home(tree, home, tiny_bundle, size):
    run = Command(tree, home)
    message = one_line(run("index", ".", "--model", tiny_bundle, largest_file=size))
    assert str(home) in message
    assert "last good index" not in message
    assert run("index", ".", "--model", tiny_bundle).returncode == 0
    assert "convert.py" in run("query", "int to string", "--files").stdout


@pytest.mark.parametrize("size", LIMITS)
def test_a_query_answers_from_the_last_index_if_an_update_has_no_space(tree, home, tiny_bundle, size):
    run = Command(tree, home)
    run.succeeds("index", ".", "--model", tiny_bundle)
    write_tree(tree, {"new.py": "def new():\n    return 1\n"})
    done = run("query", "int to string", "--files", largest_file=size)
    assert done.returncode == 0 and "convert.py" in done.stdout
    assert done.stderr == f"note: 1 file changed since {tree} was indexed: run `codesearch index {tree}`\n"
    message = one_line(run("index", ".", largest_file=size))
    assert str(home) in message
    assert "new.py" in run("query", "new", "--files").stdout


def lock_that_cannot_be_opened(folder: Path) -> None:
    """Make the lock a folder. Unlike permissions, this also stops the superuser."""
    (folder / "lock").unlink()
    (folder / "lock").mkdir()


def lock_that_leads_nowhere(folder: Path) -> None:
    """Make the lock a link to a folder that does not exist."""
    (folder / "lock").unlink()
    (folder / "lock").symlink_to(folder / "gone" / "lock")


@pytest.mark.parametrize("spoil", [lock_that_cannot_be_opened, lock_that_leads_nowhere])
def test_an_index_that_cannot_be_locked_still_answers(tree, home, tiny_bundle, spoil):
    with_tree = Engine(home, model=tiny_bundle)
    with_tree.index(tree)
    spoil(index_folder(home, tree))
    assert [found.state for found in with_tree.search("push", Scope()).freshness] == ["current"]
    write_tree(tree, {"new.py": "def new():\n    return 1\n"})
    answer = with_tree.search("push", Scope())
    assert [(found.state, found.changes.to_parse) for found in answer.freshness] == [("behind", 1)]
    assert answer.hits
    with pytest.raises(IndexStoreError, match="lock: "):
        with_tree.index(tree)
    with pytest.raises(IndexStoreError, match="lock: "):
        with_tree.refresh(tree)
    with_tree.close()


READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'


def can_mount(folder: Path) -> bool:
    """Return whether this user may mount a folder read-only for one process."""
    if not shutil.which("unshare"):
        return False
    line = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(folder), "true"]
    return subprocess.run(line, capture_output=True, check=False).returncode == 0


def test_a_home_on_a_read_only_file_system_answers_and_refuses_to_index(tree, home, tiny_bundle):
    run = Command(tree, home)
    run.succeeds("index", ".", "--model", tiny_bundle)
    if not can_mount(home):
        pytest.skip("cannot mount a folder read-only")

    def read_only(*words: str) -> subprocess.CompletedProcess[str]:
        line = ["unshare", "--mount", "sh", "-c", READ_ONLY, str(home), *run.line(*words)]
        return subprocess.run(
            line, cwd=tree, env=run.environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )

    done = read_only("query", "int to string", "--files")
    assert (done.returncode, done.stderr) == (0, "") and "convert.py" in done.stdout
    write_tree(tree, {"new.py": "def new():\n    return 1\n"})
    done = read_only("query", "int to string", "--files")
    assert done.returncode == 0 and "convert.py" in done.stdout
    assert done.stderr == f"note: 1 file changed since {tree} was indexed: run `codesearch index {tree}`\n"
    assert "Read-only file system" in one_line(read_only("index", "."))
    assert "Read-only file system" in one_line(read_only("remove", "."))
    assert read_only("status").returncode == 0
