"""A new index starts from the segments of a similar one."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch import Engine, IndexOptions, Scope
from codesearch.build.seed import _repository
from codesearch.errors import IndexCorruptError
from codesearch.store.catalogue import index_folder
from codesearch.store.manifest import commit_manifest, read_manifest
from tests.conftest import write_tree
from tests.git import git, repository

FILES = {f"{name}.py": f"def {name}_pigeon():\n    return 1\n" for name in ("open", "close", "weigh", "feed")}


@pytest.fixture
def first(tmp_path: Path, engine: Engine) -> Path:
    root = write_tree(tmp_path / "first", FILES)
    engine.index(root)
    return root


@pytest.fixture
def second(first: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(first, tmp_path / "second"))


def files_of(engine: Engine, root: Path) -> list[os.stat_result]:
    folder = index_folder(engine.home, root) / "segments/000001"
    return [path.stat() for path in sorted(folder.rglob("*")) if path.is_file()]


def names(engine: Engine, root: Path) -> set[str]:
    return {hit.name for hit in engine.search("pigeon", Scope((root,))).hits}


def test_a_copy_of_an_indexed_folder_shares_the_files_of_its_index(engine, first, second):
    report = engine.index(second)
    assert (report.seeded, report.parsed, report.kept) == (True, 0, 4)
    assert report.manifest.root == str(second)
    assert [one.st_ino for one in files_of(engine, second)] == [one.st_ino for one in files_of(engine, first)]
    assert all(one.st_nlink == 2 for one in files_of(engine, first))
    assert names(engine, second) == names(engine, first)


def test_only_files_with_other_content_are_parsed_whatever_their_time(engine, first, second):
    kept = (second / "open.py").stat()
    (second / "open.py").write_text(FILES["open.py"].replace("open", "wash"))
    os.utime(second / "open.py", ns=(kept.st_atime_ns, kept.st_mtime_ns))
    (second / "feed.py").unlink()
    report = engine.index(second)
    assert (report.seeded, report.parsed, report.kept, report.removed) == (True, 1, 2, 1)
    assert names(engine, second) == {"wash_pigeon", "close_pigeon", "weigh_pigeon"}
    assert names(engine, first) == {"open_pigeon", "close_pigeon", "weigh_pigeon", "feed_pigeon"}


def test_a_folder_with_less_than_half_of_the_files_is_indexed_alone(engine, first, second):
    for name in ("open.py", "feed.py", "close.py"):
        (second / name).unlink()
    report = engine.index(second)
    assert (report.seeded, report.parsed) == (False, 1)


def test_damage_is_noticed_in_both(engine, first, second):
    engine.index(second)
    damaged = index_folder(engine.home, first) / "segments/000001/rows.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x7f")
    for root in (first, second):
        with pytest.raises(IndexCorruptError, match="its bytes were changed"):
            names(engine, root)


def test_a_damaged_index_is_no_beginning(engine, first, second):
    damaged = index_folder(engine.home, first) / "segments/000001/rows.npy"
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x7f")
    report = engine.index(second)
    assert (report.seeded, report.parsed) == (False, 4)
    assert len(names(engine, second)) == 4


def test_an_unfinished_index_is_no_beginning(engine, first, second):
    folder = index_folder(engine.home, first)
    commit_manifest(folder, replace(read_manifest(folder), complete=False))
    assert not engine.index(second).seeded


def test_a_rebuild_starts_from_nothing(engine, first, second):
    assert engine.index(second).seeded
    report = engine.index(second, rebuild=True)
    assert (report.seeded, report.parsed) == (False, 4)


def test_without_hard_links_the_files_are_copied(engine, first, second, monkeypatch):
    def refused(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refused)
    assert engine.index(second).seeded
    assert all(one.st_nlink == 1 and one.st_mode & 0o777 == 0o600 for one in files_of(engine, second))
    assert len(names(engine, second)) == 4


def test_settings_of_the_new_folder_decide_what_is_indexed(engine, first, second):
    report = engine.index(second, IndexOptions(exclude=("open.py",)))
    assert (report.seeded, report.kept, report.removed) == (True, 3, 1)
    assert names(engine, second) == {"close_pigeon", "weigh_pigeon", "feed_pigeon"}


def test_a_work_tree_of_the_same_repository_comes_first(engine, first, tmp_path):
    git(repository(first, {}), "worktree", "add", "-q", "../tree")
    assert _repository(tmp_path / "tree") == _repository(first) == str(first / ".git")
    assert _repository(tmp_path) == ""
    for number in range(20):  # Later indexes of folders that look alike.
        engine.index(write_tree(tmp_path / f"other{number}", {"open.py": "def other(): pass\n"}))
    report = engine.index(tmp_path / "tree")
    assert (report.seeded, report.kept) == (True, 4)


@pytest.mark.parametrize("text", ["", "gitdir: /nowhere", "gitdir: .", "\0"])
def test_a_git_file_that_leads_nowhere_does_not_make_two_folders_one_repository(tmp_path, text):
    other = repository(write_tree(tmp_path / "other", {"a.py": ""}), {})
    (tmp_path / ".git").write_text(text)
    assert _repository(tmp_path) != _repository(other) == str(other / ".git")
