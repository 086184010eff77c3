"""Commits -> the definitions that they changed."""

import shutil
from pathlib import Path

import pytest

from codesearch.git import Repository
from codesearch.history import hits
from tests.conftest import write_tree
from tests.git import git, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
OLD = """\
import os


class Loft:
    size = 3

    def feed(self, pigeon):
        def eat(grain):
            return grain
        return eat(pigeon)

    def open(self):
        return True


def fly(pigeon):
    return pigeon
"""


def changed(root: Path, files: dict[str, str]) -> list[tuple[str, str, bool]]:
    """Commit files; return path, name and whether it was removed of each changed definition."""
    write_tree(root, files)
    git(root, "add", ".")
    git(root, "commit", "-qm", "next")
    found = Repository(str(root), "test")
    ((hit, _),) = hits._read_hits(found, [found.commit("HEAD")])
    return [(one.path, one.name, one.removed) for one in hit.definitions]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(
        tmp_path / "project", {"loft.py": OLD, "tests/test_loft.py": OLD, "notes.md": "# One\n"}
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return True", "return False", ["Loft.open"]),
        ("size = 3", "size = 4", ["Loft"]),
        ("return grain", "return grain[:1]", ["Loft.feed"]),
        ("import os", "import sys", []),
        ("\n\n    def open", "\n\n\n\n    def open", []),
        (
            "        return True\n",
            "        return True\n\n    def shut(self):\n        return False\n",
            ["Loft.shut"],
        ),
        ("        def eat(grain):\n            return grain\n", "", ["Loft.feed"]),
        ("def fly(pigeon)", "def soar(pigeon)", ["fly removed", "soar"]),
    ],
)
def test_the_innermost_definitions_around_a_change(root, old, new, expected):
    found = changed(root, {"loft.py": OLD.replace(old, new)})
    assert sorted(f"{name}{' removed' * removed}" for _, name, removed in found) == expected


def test_definitions_of_tests_come_last_and_other_files_have_none(root):
    new = OLD.replace("return True", "return None")
    files = {"loft.py": new, "tests/test_loft.py": new, "notes.md": "# Two\n", "new.py": OLD}
    assert changed(root, files) == [
        ("loft.py", "Loft.open", False),
        ("tests/test_loft.py", "Loft.open", False),
    ]


def test_a_commit_of_many_files_has_no_definitions(root):
    changed(root, {f"{number}.py": OLD for number in range(21)})
    assert changed(root, {f"{number}.py": OLD.replace("True", "None") for number in range(21)}) == []


def test_a_file_that_its_parser_cannot_cope_with_has_none_and_the_others_have(root, monkeypatch):
    extract_each = hits.extract_each

    def without_the_first(files, config):
        found = list(extract_each(files, config))
        return iter([None, *found[1:]])

    monkeypatch.setattr(hits, "extract_each", without_the_first)
    new = OLD.replace("return True", "return None")
    assert changed(root, {"loft.py": new, "tests/test_loft.py": new}) == []
    monkeypatch.undo()
    assert changed(root, {"loft.py": OLD})[0][:2] == ("loft.py", "Loft.open")
