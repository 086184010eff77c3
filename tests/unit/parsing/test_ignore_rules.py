"""Ignore files, as git reads them, plus `.codesearchignore` and `--exclude`."""

from pathlib import Path

import pytest

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError
from codesearch.parsing.walker import WalkSummary, walk
from tests.conftest import write_tree

PY = "x = 1\n"


def walked(root: Path, report: WalkSummary | None = None, **options: object) -> list[str]:
    return [file.path for file in walk(root, WalkConfig(**options), report or WalkSummary())]


def test_codesearchignore_overrides_the_gitignore_of_its_folder(tmp_path):
    files = dict.fromkeys(("a.py", "b.py", "vendor/c.py"), PY)
    rules = {".gitignore": "a.py\nvendor/\n", ".codesearchignore": "!a.py\n!vendor/\nb.py\n"}
    write_tree(tmp_path, {**files, **rules})
    assert walked(tmp_path) == ["a.py", "vendor/c.py"]


def test_a_deeper_gitignore_overrides_a_codesearchignore_above(tmp_path):
    files = dict.fromkeys(("a.py", "sub/a.py"), PY)
    write_tree(tmp_path, {**files, ".codesearchignore": "a.py\n", "sub/.gitignore": "!a.py\n"})
    assert walked(tmp_path) == ["sub/a.py"]


def test_a_git_file_of_a_submodule_or_worktree_causes_no_warning(tmp_path):
    write_tree(
        tmp_path, {"module/.git": "gitdir: ../.git/modules/module\n", "module/a.py": PY, ".git/HEAD": ""}
    )
    report = WalkSummary()
    assert walked(tmp_path, report) == ["module/a.py"]
    assert report.warnings == []


def test_rules_between_the_top_of_the_work_tree_and_the_root_apply(tmp_path):
    files = dict.fromkeys(
        ("repo/pkg/src/a.py", "repo/pkg/src/b.py", "repo/pkg/src/c.py", "repo/pkg/src/d.py"), PY
    )
    rules = {
        "repo/.git/info/exclude": "c.py\n",
        "repo/.gitignore": "a.py\n/src/b.py\n",
        "repo/pkg/.gitignore": "/src/d.py\n",
        ".gitignore": "*.py\n",  # Above the work tree: git and codesearch ignore it.
    }
    write_tree(tmp_path, {**files, **rules})
    assert walked(tmp_path / "repo/pkg/src") == ["b.py"]


def test_rules_above_a_root_outside_any_work_tree_do_not_apply(tmp_path):
    write_tree(tmp_path, {"tree/a.py": PY, ".gitignore": "*.py\n"})
    assert walked(tmp_path / "tree") == ["a.py"]


def test_rules_above_a_root_that_is_a_work_tree_itself_do_not_apply(tmp_path):
    write_tree(tmp_path, {"inner/a.py": PY, "inner/.git/HEAD": "", ".git/HEAD": "", ".gitignore": "a.py\n"})
    assert walked(tmp_path / "inner") == ["a.py"]


def test_a_root_is_walked_even_if_rules_above_ignore_it(tmp_path):
    write_tree(tmp_path, {"build/a.py": PY, "build/sub/b.py": PY, ".git/HEAD": "", ".gitignore": "build/\n"})
    assert walked(tmp_path) == []
    assert walked(tmp_path / "build") == ["a.py", "sub/b.py"]
    assert walked(tmp_path / "build" / "sub") == ["b.py"]


@pytest.mark.parametrize(
    ("pattern", "ignored"),
    [
        ("[]x].py", "].py"),
        ("[^a-z1].py", "].py"),
        (r"\[a].py", "[a].py"),
        ("a\\ b.py", "a b.py"),
        ("1.p[y", None),
        ("1.py\\", None),
        ("[9-0].py", None),
        ("[2-1].py", None),
        ("[[:digit:]].py", "1.py"),
        ("[[:nothing:]].py", None),
        (r"[\]].py", "].py"),
    ],
)
def test_patterns_are_read_as_git_reads_them(tmp_path, pattern, ignored):
    names = ["1.py", "[a].py", "].py", "a b.py"]
    write_tree(tmp_path, {**dict.fromkeys(names, PY), ".gitignore": pattern})
    assert walked(tmp_path) == [name for name in names if name != ignored]


@pytest.mark.parametrize("pattern", ["!", "a\\", "[9-0"])
def test_an_invalid_exclude_pattern_is_an_error(tmp_path, pattern):
    with pytest.raises(ConfigError) as caught:
        walked(tmp_path, exclude=(pattern,))
    assert str(caught.value).startswith("exclude: invalid pattern ")


def test_exclude_patterns_are_relative_to_the_root(tmp_path):
    write_tree(tmp_path, dict.fromkeys(("a.py", "sub/a.py", "tests/b.py", "sub/tests/c.py", "d.go"), PY))
    assert walked(tmp_path, exclude=("/a.py", "tests/", "*.go")) == ["sub/a.py"]


def test_exclude_overrides_ignore_files_and_works_without_them(tmp_path):
    write_tree(tmp_path, {"a.py": PY, "b.py": PY, "sub/a.py": PY, ".gitignore": "!a.py\nb.py\n"})
    assert walked(tmp_path, exclude=("a.py",)) == []
    assert walked(tmp_path, exclude=("a.py",), ignore_files=False) == ["b.py"]


def test_ignore_files_can_be_switched_off(tmp_path):
    write_tree(tmp_path, {"a.py": PY, ".gitignore": "*.py\n", ".codesearchignore": "*\n"})
    assert walked(tmp_path) == []
    assert walked(tmp_path, ignore_files=False) == ["a.py"]


def test_valid_patterns_of_an_ignore_file_apply_despite_invalid_lines(tmp_path):
    write_tree(tmp_path, {"a.py": PY, "b.py": PY})
    (tmp_path / ".gitignore").write_bytes(b"\xff\xfe\n!\n/\n\n# a.py\nb.py\r\n")
    assert walked(tmp_path) == ["a.py"]


def test_an_ignore_file_that_cannot_be_read_costs_a_warning(tmp_path):
    write_tree(tmp_path, {"a.py": PY, "sub/b.py": PY})
    (tmp_path / "sub" / ".gitignore").mkdir()
    report = WalkSummary()
    assert walked(tmp_path, report) == ["a.py", "sub/b.py"]
    assert report.warnings == ["sub/.gitignore: not a regular file: its rules are not applied"]
