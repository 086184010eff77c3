"""Pipes, devices, links and huge files in a repository: no command hangs, and nothing outside is read."""

import os
import tracemalloc
from pathlib import Path

import pytest

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError
from codesearch.options import PROJECT
from codesearch.settings import SETTINGS, index_options
from codesearch.treefiles import read_below, read_head, read_regular
from tests.conftest import index_by_engine, write_tree

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
SOURCE = "def push(item):\n    return item\n"
DEEPER = "def pop(items):\n    return items[-1]\n"
SECRET = "def push_secret(key):\n    return key\n"
PLACES = (".gitignore", ".codesearchignore", ".git/info/exclude", "a.py", "b")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", {"good.py": SOURCE, "sub/deep.py": DEEPER, ".git/HEAD": ""})


def put(path: Path, what: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(path)
        path.chmod(0o755)
    else:
        path.symlink_to(what)


@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "/dev/tty"])
def test_a_pipe_or_a_device_hangs_no_command(tree, command, tiny_bundle, what):
    for place in PLACES:
        put(tree / place, what)
    for words in (["index", "."], ["query", "push"], ["similar", "good.py:1"], ["index", ".", "--follow"]):
        done = command(*words, cwd=tree, shipped=tiny_bundle)
        assert done.returncode == 0, done.stderr
    assert "good.py:1" in command("query", "push", cwd=tree, shipped=tiny_bundle).stdout


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_settings_in_a_pipe_are_an_error(tree, command, what):
    put(tree / ".codesearch.toml", what)
    said = command.fails("index", ".", cwd=tree)
    assert "not a regular file: make it readable or remove it" in said


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_a_pipe_above_the_root_hangs_no_command(tree, command, tiny_bundle, what):
    put(tree / ".gitignore", what)
    done = command("index", "sub", cwd=tree, shipped=tiny_bundle)
    assert done.returncode == 0 and "its rules are not applied" in done.stderr


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
@pytest.mark.parametrize("refresh", ["--refresh", "--no-refresh"])
def test_a_pipe_in_the_place_of_an_indexed_file_hangs_no_query(
    tree, command, home, tiny_bundle, what, refresh
):
    index_by_engine(tree, home, tiny_bundle)
    put(tree / "good.py", what)
    done = command("query", "push", refresh, cwd=tree)
    assert done.returncode == 0 and "sub/deep.py:1" in done.stdout and "good.py" not in done.stdout


@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_similar_to_a_pipe_is_an_error(tree, command, home, tiny_bundle, what):
    index_by_engine(tree, home, tiny_bundle)
    put(tree / "x.py", what)
    assert "not a regular file" in command.fails("similar", "x.py:1", cwd=tree)


def test_hits_do_not_show_the_target_of_a_link(tree, command, home, tiny_bundle, tmp_path):
    write_tree(tmp_path, {"outside/deep.py": SECRET})
    index_by_engine(tree, home, tiny_bundle)
    put(tree / "good.py", str(tmp_path / "outside/deep.py"))
    os.rename(tree / "sub", tree / "old")
    put(tree / "sub", str(tmp_path / "outside"))
    done = command("query", "push", "--no-refresh", "--full", cwd=tree)
    assert done.returncode == 1 and "secret" not in done.stdout + done.stderr


def test_hits_follow_links_if_the_walk_followed_them(tree, command, tmp_path, tiny_bundle):
    write_tree(tmp_path, {"outside/deep.py": SECRET})
    put(tree / "linked", str(tmp_path / "outside"))
    command.succeeds("index", ".", "--follow", cwd=tree, shipped=tiny_bundle)
    for words in (["push secret"], ["-F", "push"]):
        assert "linked/deep.py:1" in command("query", *words, cwd=tree, shipped=tiny_bundle).stdout


def test_a_file_that_grew_over_the_limit_is_not_shown(tree, command, home, tiny_bundle):
    index_by_engine(tree, home, tiny_bundle)
    os.truncate(tree / "good.py", 1 << 40)
    done = command("query", "push", "--no-refresh", cwd=tree)
    assert "sub/deep.py:1" in done.stdout and "good.py" not in done.stdout


def test_a_huge_ignore_file_is_refused_with_a_warning(tree, command, tiny_bundle):
    (tree / ".gitignore").write_text("*.pyc\n" * 7_000_000)
    (tree / "sub/.gitignore").write_text("x\n" * 20_000)
    done = command("index", ".", cwd=tree, shipped=tiny_bundle)
    assert "warning: .gitignore: more than 1 MB: its rules are not applied" in done.stderr
    assert "warning: sub/.gitignore: more than 10,000 lines: its rules are not applied" in done.stderr


@pytest.mark.parametrize("can_walk", [True, False], ids=["posix", "windows"])
@pytest.mark.parametrize("follow", [False, True])
def test_reading_below_a_root(tree, follow, can_walk, monkeypatch):
    monkeypatch.setattr("codesearch.treefiles._CAN_WALK", can_walk)
    (tree / "link.py").symlink_to(tree / "good.py")
    (tree / "folder").symlink_to(tree / "sub")
    walk = WalkConfig(max_file_bytes=100, follow_links=follow)
    assert read_below(tree, "sub/deep.py", walk)[0] == DEEPER.encode()
    for path, content in (("link.py", SOURCE), ("folder/deep.py", DEEPER)):
        if follow:
            assert read_below(tree, path, walk)[0] == content.encode()
        else:
            with pytest.raises(OSError):
                read_below(tree, path, walk)


def test_reading_has_a_limit_and_takes_only_regular_files(tree):
    (tree / "pipe").symlink_to("/dev/zero")
    assert read_regular(tree / "good.py", len(SOURCE))[0] == SOURCE.encode()
    assert read_head(tree / "good.py", 3) == b"def"
    with pytest.raises(OSError, match="more than 1e-05 MB"):
        read_regular(tree / "good.py", 10)
    for path in (tree / "pipe", tree / "sub"):
        with pytest.raises(OSError):
            read_regular(path, 100)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs the list of open files of Linux")
def test_a_folder_in_the_place_of_a_file_leaves_no_file_open(tree):
    before = len(os.listdir("/proc/self/fd"))
    for read in (lambda: read_regular(tree / "sub", 100), lambda: read_head(tree / "sub", 3)):
        with pytest.raises(OSError, match="not a regular file"):
            read()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_limit_of_any_size_reserves_no_more_memory_than_the_file_has(tree):
    tracemalloc.start()
    try:
        assert read_regular(tree / "good.py", 1 << 60)[0] == SOURCE.encode()
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_file_whose_size_the_system_does_not_say_is_read_whole():
    text = Path("/proc/self/status")
    if not text.exists():
        pytest.skip("needs /proc")
    assert b"VmRSS" in read_regular(text, 1_000_000)[0]
    with pytest.raises(OSError, match="more than 1e-05 MB"):
        read_regular(text, 10)


@pytest.mark.parametrize("text", ["a = " + "[" * 20_000, "x" * 200_000, '"a' + ".a" * 40_000])
def test_settings_that_are_too_large_or_too_deep_are_a_one_line_error(tree, command, text):
    (tree / ".codesearch.toml").write_text(text)
    done = command("query", "push", cwd=tree)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1


def test_a_project_cannot_choose_programs_or_read_outside(tree):
    assert not any(PROJECT in SETTINGS[name].opt.set_by for name in ("follow_links", "model"))
    (tree / ".codesearch.toml").write_text("follow_links = true\n")
    with pytest.raises(ConfigError, match="'follow_links' cannot be set by a project"):
        index_options(tree)
