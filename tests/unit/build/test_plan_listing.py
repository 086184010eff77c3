"""A refresh lists only changed folders, with the same result as a walk of the whole root."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.build import plan as plan_module
from codesearch.build.plan import Plan, plan_update
from codesearch.build.stamps import write_stamps
from codesearch.config import IndexConfig
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import last_manifest
from tests.conftest import HashEncoder, build, write_tree

SOURCE = "def {}():\n    pass\n"
FILES = {
    f"{folder}{name}.py": SOURCE.format(f"{name}_{number}")
    for number, folder in enumerate(("", "a/", "a/deep/", "a/deep/er/", "b/", "b/deep/", "other/"))
    for name in ("one", "two")
}
RULES = {"a/.gitignore": "no_*.py\n", ".gitignore": "ignored/\n", "b/.git/info/exclude": "not_*.py\n"}
BARE = "b/bare.git/info/exclude"
Edit = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path, home: Path, encoder: HashEncoder, settled: None) -> Path:
    """An indexed tree, with stamps that can be trusted."""
    root = tmp_path / "src"
    write_tree(root, {**FILES, **RULES, BARE: "no rules of the tree\n"})
    build(root, home, encoder)
    return root


@pytest.fixture
def walks(monkeypatch) -> list[Path]:
    """Return the list of roots that were walked."""
    walked: list[Path] = []

    def walk(root: Path, *rest: object, real=plan_module.walk):
        walked.append(root)
        return real(root, *rest)

    monkeypatch.setattr(plan_module, "walk", walk)
    return walked


def make_plan(root: Path, home: Path, encoder: HashEncoder, *, may_list: bool) -> Plan:
    folder = index_folder(home, root)
    last = last_manifest(folder)
    return plan_update(root, folder, IndexConfig(), encoder.model_id, last=last, may_list=may_list)


def findings(plan: Plan) -> tuple[object, ...]:
    dead = sorted((live.segment, live.file_id) for live in plan.dead)
    stamps = plan.stamps
    return plan.to_parse, dead, plan.kept, plan.removed, stamps.files, stamps.passed, stamps.watched


def save_by_rename(root: Path) -> None:
    (root / "a/new.tmp").write_text(SOURCE.format("saved"))
    (root / "a/new.tmp").rename(root / "a/one.py")


def move_folder_in(root: Path) -> None:
    outside = root.parent / "outside"
    write_tree(
        outside,
        {"x.py": SOURCE.format("x"), "deep/y.py": SOURCE.format("y"), ".gitignore": "z.py\n", "z.py": ""},
    )
    outside.rename(root / "a/moved")


def exchange_folders(root: Path) -> None:
    (root / "a").rename(root / "c")
    (root / "b").rename(root / "a")
    (root / "c").rename(root / "b")


def exchange_folders_with_the_same_time_stamps(root: Path) -> None:
    stamps = {path: path.stat() for path in (root / "a/deep", root / "b/deep")}
    (root / "a/deep").rename(root / "c")
    (root / "b/deep").rename(root / "a/deep")
    (root / "c").rename(root / "b/deep")
    for path in stamps:
        os.utime(path, (1_500_000_000, 1_500_000_000))


def replace_by_a_link(root: Path) -> None:
    (root / "other").rename(root.parent / "other")
    (root / "other").symlink_to(root.parent / "other")


def change_in_two_places(root: Path) -> None:
    (root / "b/deep/one.py").write_text(SOURCE.format("a_longer_name"))
    (root / "a/deep/two.py").rename(root / "a/deep/three.py")


LISTED: dict[str, Edit] = {
    "save by rename": save_by_rename,
    "new file": lambda root: (root / "b/new.py").write_text(SOURCE.format("new")),
    "new script": lambda root: write_script(root / "b/script"),
    "file renamed": lambda root: (root / "a/one.py").rename(root / "a/three.py"),
    "file moved": lambda root: (root / "a/one.py").rename(root / "b/three.py"),
    "file deleted": lambda root: (root / "a/deep/one.py").unlink(),
    "ignored files": lambda root: write_tree(
        root, {"a/no_one.py": "", "b/not_one.py": "", "ignored/a.py": ""}
    ),
    "files by rules of folders above": lambda root: write_tree(
        root, {"a/deep/er/no_one.py": "", "b/deep/not.py": ""}
    ),
    "folder moved in": move_folder_in,
    "folder renamed": lambda root: (root / "other").rename(root / "c"),
    "folder moved down": lambda root: (root / "a/deep").rename(root / "b/deep/a"),
    "folders exchanged": exchange_folders_with_the_same_time_stamps,
    "folder deleted": lambda root: shutil.rmtree(root / "a/deep"),
    "folder became a link": replace_by_a_link,
    "folder became a file": lambda root: (shutil.rmtree(root / "other"), (root / "other").write_text("")),
    "nested repository moved in": lambda root: write_tree(
        root, {"other/repo/.git/info/exclude": "no.py\n", "other/repo/no.py": "", "other/repo/yes.py": SOURCE}
    ),
    "file of a bare repository deleted": lambda root: (root / BARE).unlink(),
    "two places": change_in_two_places,
}
WALKED: dict[str, Edit] = {
    "ignore file changed": lambda root: (root / "a/.gitignore").write_text("one.py\n"),
    "ignore file changed in a changed folder": lambda root: write_tree(
        root, {"a/.gitignore": "one.py\n", "a/new.py": SOURCE}
    ),
    "ignore file deleted": lambda root: (root / "a/.gitignore").unlink(),
    "new ignore file": lambda root: (root / "b/.gitignore").write_text("deep/\n"),
    "new repository": lambda root: write_tree(root, {"a/deep/.git/info/exclude": "one.py\n"}),
    "root became a repository": lambda root: write_tree(root, {".git/info/exclude": "one.py\n"}),
    "repository around the root": lambda root: write_tree(root.parent, {".git/info/exclude": "one.py\n"}),
    "settings changed": lambda root: (root / ".codesearch.toml").write_text("[index]\n"),
    "nested repository deleted": lambda root: shutil.rmtree(root / "b"),
    "folder with rules renamed": lambda root: (root / "a").rename(root / "c"),
    "exchanged with their rules": exchange_folders,
}


def write_script(path: Path) -> None:
    path.write_text("#!/usr/bin/env python3\n" + SOURCE.format("run"))
    path.chmod(0o755)


@pytest.mark.parametrize("name", LISTED)
def test_listing_changed_folders_gives_the_result_of_a_walk(name, root, home, encoder, walks):
    LISTED[name](root)
    listed = make_plan(root, home, encoder, may_list=True)
    assert walks == []
    walked = make_plan(root, home, encoder, may_list=False)
    assert walks == [root]
    assert findings(listed) == findings(walked)


@pytest.mark.parametrize("name", WALKED)
def test_changed_rules_cause_a_walk_of_the_whole_root(name, root, home, encoder, walks):
    WALKED[name](root)
    listed = make_plan(root, home, encoder, may_list=True)
    assert walks == [root]
    assert findings(listed) == findings(make_plan(root, home, encoder, may_list=False))


def test_a_refresh_lists_only_changed_folders(root, home, encoder, monkeypatch):
    (root / "a/deep/new.py").write_text(SOURCE.format("new"))
    scanned: list[str] = []
    monkeypatch.setattr(os, "scandir", lambda path, real=os.scandir: scanned.append(str(path)) or real(path))
    plan = make_plan(root, home, encoder, may_list=True)
    assert {Path(path).relative_to(root).as_posix() for path in scanned} == {".", "a/deep"}
    assert scanned.count(str(root)) == 1  # Only to check that it is readable.
    assert [file.path for file in plan.to_parse] == ["a/deep/new.py"]


def test_a_run_of_index_after_a_listing_walks_and_counts_what_was_skipped(root, home, encoder, walks):
    write_tree(root, {"a/new.xyz": ""})
    listed = make_plan(root, home, encoder, may_list=True)
    assert (listed.nothing_to_do, listed.stamps.is_partial, listed.walked.skipped) == (
        True,
        True,
        {"hidden": {"": 2}, "other content": {"": 1}},
    )
    write_stamps(index_folder(home, root), listed.stamps, 1)
    again = make_plan(root, home, encoder, may_list=True)
    assert (again.nothing_to_do, walks) == (True, [])
    walked = make_plan(root, home, encoder, may_list=False)
    assert (walks, walked.stamps.is_partial) == ([root], False)
    assert walked.walked.skipped == {"hidden": {"": 2}, "other content": {"": 1, ".xyz": 1}}


def test_many_changed_folders_cause_a_walk(root, home, encoder, walks, monkeypatch):
    monkeypatch.setattr(plan_module, "_MOST_FOLDERS", 1)
    write_tree(root, {"a/new.py": SOURCE.format("new"), "b/new.py": SOURCE.format("new")})
    assert len(make_plan(root, home, encoder, may_list=True).to_parse) == 2
    assert walks == [root]


def test_an_unreadable_folder_causes_a_walk_with_a_warning(root, home, encoder, walks, monkeypatch):
    write_tree(root, {"a/new.py": SOURCE.format("new")})

    def scandir(path, real=os.scandir):
        if Path(path) == root / "a":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    plan = make_plan(root, home, encoder, may_list=True)
    assert walks == [root]
    assert plan.walked.warnings
    assert "a" in str(plan.walked.warnings[0])


def test_followed_links_cause_a_walk(tmp_path, home, encoder, walks):
    root = tmp_path / "src"
    write_tree(root, FILES)
    config = IndexConfig(walk=replace(IndexConfig().walk, follow_links=True))
    build(root, home, encoder, config=config)
    walks.clear()
    write_tree(root, {"a/new.py": SOURCE.format("new")})
    folder = index_folder(home, root)
    last = last_manifest(folder)
    plan = plan_update(root, folder, config, encoder.model_id, last=last, may_list=True)
    assert [file.path for file in plan.to_parse] == ["a/new.py"]
    assert walks == [root]


def test_a_change_in_folders_nested_deeper_than_python_recurses_is_found(root, home, encoder, walks):
    bottom = "d/" * 300
    write_tree(root, {f"{bottom}one.py": SOURCE.format("one")})
    build(root, home, encoder)
    walks.clear()
    write_tree(root, {f"{bottom}two.py": SOURCE.format("two")})
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 200)
    try:
        plan = make_plan(root, home, encoder, may_list=True)
    finally:
        sys.setrecursionlimit(before)
    assert [file.path for file in plan.to_parse] == [f"{bottom}two.py"]
    assert walks == []
