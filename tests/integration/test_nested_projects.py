"""A query answers from the project that it is asked in, also if another project is around that."""

import json
import shutil
from pathlib import Path

import pytest

from tests.command import Command
from tests.conftest import write_tree
from tests.git import git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
APP = "def load_cart(user):\n    return user.cart\n"
OTHER = APP.replace("load_cart", "load_basket")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = repository(tmp_path / "main", {"src/app.py": APP, ".gitignore": ".trees/\nvendor/\n"})
    for place in (".claude/worktrees/x", ".trees/y", "visible/z"):
        git(root, "worktree", "add", "-q", place, "-b", place[-1])
        write_tree(root / place, {"src/app.py": OTHER})
    return root


def ask(folder: Path, home: Path, *arguments: str) -> str:
    done = Command(folder, home)(*arguments, "--auto-index")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("place", "is_first"),
    [(".claude/worktrees/x", True), (".trees/y", False), ("visible/z", True), ("visible/z", False)],
)
def test_a_linked_work_tree_answers_from_itself(root, home, place, is_first):
    folder = root / place
    if is_first:
        Command(folder, home).succeeds("index", ".")
    Command(root, home).succeeds("index", ".")
    assert ask(folder, home, "query", "load cart", "--compact", "--flat").startswith(
        "src/app.py:1  load_basket"
    )
    assert "load_basket" in ask(folder, home, "outline", "src")
    assert "load_basket" in ask(folder, home, "read", "src/app.py")
    assert "load_cart" not in ask(folder, home, "query", "load cart", ".", "--compact")
    (entry,) = json.loads(Command(folder, home)("status", ".", "--json").stdout)
    assert entry["root"] == str(folder)
    assert "load_basket" not in ask(root, home, "query", "load basket", "--compact", "--flat", "-n", "20")


def test_an_ignored_folder_with_a_project_file_is_a_project(root, home):
    inner = write_tree(root / "vendor/tool", {"package.json": "{}\n", "run.js": "function startTool() {}\n"})
    write_tree(root / "packages/part", {"package.json": "{}\n", "run.js": "function startPart() {}\n"})
    for _ in "before and after the outer project is indexed", "":
        assert "run.js:1  startTool" in ask(inner, home, "query", "start", "--compact", "--flat")
        assert "run.js:1  startTool" in ask(inner, home, "query", "start", ".", "--compact", "--flat")
        assert "startTool" in ask(inner, home, "outline", ".")
        (entry,) = json.loads(Command(inner, home)("status", ".", "--json").stdout)
        assert entry["root"] == str(inner)
        Command(root, home).succeeds("index", ".")
    assert "load_cart" in ask(root / "packages/part", home, "query", "load cart", "--compact")
