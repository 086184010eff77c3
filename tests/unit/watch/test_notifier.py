"""inotify: which folders are watched, and which events are reported."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesearch.build.stamps import Dependencies
from tests.command import until
from tests.conftest import write_tree

if sys.platform != "linux":
    pytest.skip("needs inotify of Linux", allow_module_level=True)

from inotify_simple import Event, INotify, flags

from codesearch.watch.inotify import InotifyNotifier


def wanted(*folders: Path, files: tuple[Path, ...] = (), above: tuple[Path, ...] = ()) -> Dependencies:
    entered = frozenset(f"{folder}/" for folder in folders)
    return Dependencies((1, ""), 0, "code", entered, frozenset(map(str, files)), frozenset(map(str, above)))


class Notified:
    """A notifier and what it reported."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, bool]] = []
        self.notifier = InotifyNotifier(lambda root, is_stale: self.changes.append((root, is_stale)))

    def seen(self) -> set[tuple[str, bool]]:
        """Return what was reported since the last call."""
        self.notifier.drain()
        seen, self.changes[:] = set(self.changes), []
        return seen


@pytest.fixture
def notified() -> Iterator[Notified]:
    notified = Notified()
    yield notified
    notified.notifier.close()


def test_a_change_is_reported_before_a_drain_returns(notified, tmp_path):
    notified.notifier.watch("root", wanted(tmp_path))
    for number in range(200):
        (tmp_path / f"a{number}.py").write_text("x = 1\n")
        assert notified.seen() == {("root", False)}


def test_only_changes_of_files_that_can_be_indexed_are_reported(notified, tmp_path):
    notified.notifier.watch("root", wanted(tmp_path))
    for name in ("a.log", ".a.py.swp", "a.py~", "README.md"):
        (tmp_path / name).write_text("text\n")
    assert notified.seen() == set()
    for name in ("a.py", "script", ".gitignore", ".codesearch.toml"):
        (tmp_path / name).write_text("text\n")
        assert notified.seen() == {("root", False)}, name


def test_reading_files_reports_nothing(notified, tmp_path):
    write_tree(tmp_path, {"a.py": "x = 1\n"})
    notified.notifier.watch("root", wanted(tmp_path))
    (tmp_path / "a.py").read_text()
    list(tmp_path.iterdir())
    assert notified.seen() == set()


def test_folders_that_were_not_named_are_not_watched(notified, tmp_path):
    write_tree(tmp_path, {"node_modules/a.js": "", "src/a.js": ""})
    notified.notifier.watch("root", wanted(tmp_path, tmp_path / "src"))
    (tmp_path / "node_modules/a.js").write_text("x\n")
    assert notified.seen() == set()
    (tmp_path / "src/a.js").write_text("x\n")
    assert notified.seen() == {("root", False)}


def test_a_folder_watched_for_its_ignore_file_reports_only_this_file(notified, tmp_path):
    notified.notifier.watch("root", wanted(files=(tmp_path / "exclude",)))
    (tmp_path / "a.py").write_text("x\n")
    assert notified.seen() == set()
    (tmp_path / "exclude").write_text("x\n")
    assert notified.seen() == {("root", False)}


def test_a_file_in_a_folder_that_does_not_exist_is_reported_when_the_folder_is_made(notified, tmp_path):
    dependencies = wanted(files=(tmp_path / "settings/codesearch/config.toml",))
    notified.notifier.watch("root", dependencies)
    (tmp_path / "settings").mkdir()
    assert notified.seen() == {("root", True)}
    (tmp_path / "settings/codesearch").mkdir()
    notified.notifier.watch("root", dependencies)
    (tmp_path / "settings/codesearch/config.toml").write_text("k = 1\n")
    assert notified.seen() == {("root", False)}


def test_a_renamed_folder_above_the_root_and_a_new_repository_are_reported(notified, tmp_path):
    write_tree(tmp_path, {"up/src/a.py": "", "other.py": ""})
    above = tmp_path / "up", tmp_path / ".git", tmp_path / "up/.git", tmp_path / "up/src"
    notified.notifier.watch("root", wanted(tmp_path / "up/src", above=above))
    (tmp_path / "other.py").write_text("x\n")
    (tmp_path / "new.py").write_text("x\n")
    assert notified.seen() == set()
    (tmp_path / "up/.git").mkdir()
    assert notified.seen() == {("root", True)}
    (tmp_path / "up").rename(tmp_path / "down")
    assert notified.seen() == {("root", True)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_a_folder_that_is_mounted_over_another_is_reported(notified, tmp_path):
    write_tree(tmp_path, {"src/a.py": "", "other/a.py": ""})
    notified.notifier.watch("root", wanted(tmp_path / "src"))
    command = ["mount", "--bind", tmp_path / "other", tmp_path / "src"]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this container may not mount")
    try:
        assert ("root", True) in notified.seen()
    finally:
        subprocess.run(["umount", tmp_path / "src"], check=True)


def test_a_renamed_folder_keeps_its_watch_under_its_new_name(notified, tmp_path):
    write_tree(tmp_path, {"old/a.py": ""})
    notified.notifier.watch("root", wanted(tmp_path, tmp_path / "old"))
    (tmp_path / "old").rename(tmp_path / "new")
    assert ("root", True) in notified.seen()
    notified.notifier.watch("root", wanted(tmp_path, tmp_path / "new"))
    notified.seen()
    (tmp_path / "new/a.py").write_text("x\n")
    assert notified.seen() == {("root", False)}


def test_a_deleted_folder_reports_that_watches_are_stale(notified, tmp_path):
    write_tree(tmp_path, {"sub/a.py": ""})
    notified.notifier.watch("root", wanted(tmp_path / "sub"))
    (tmp_path / "sub/a.py").unlink()
    (tmp_path / "sub").rmdir()
    assert ("root", True) in notified.seen()


def test_a_folder_of_two_roots_stays_watched_when_one_root_is_forgotten(notified, tmp_path):
    for root in ("one", "two"):
        notified.notifier.watch(root, wanted(tmp_path))
    notified.notifier.forget("one")
    notified.seen()
    (tmp_path / "a.py").write_text("x\n")
    assert notified.seen() == {("two", False)}


def test_if_the_system_has_too_few_watches_all_are_removed(notified, tmp_path, monkeypatch):
    write_tree(tmp_path, {"sub/a.py": ""})
    add, left = INotify.add_watch, [1]

    def add_some(*arguments: Any) -> int:
        if not left:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        left.pop()
        return add(*arguments)

    monkeypatch.setattr(INotify, "add_watch", add_some)
    with pytest.raises(OSError, match="limit reached"):
        notified.notifier.watch("root", wanted(tmp_path, tmp_path / "sub"))
    (tmp_path / "a.py").write_text("x\n")
    assert notified.seen() == set()
    monkeypatch.undo()
    notified.notifier.watch("other", wanted(tmp_path))
    (tmp_path / "b.py").write_text("x\n")
    assert notified.seen() == {("other", False)}


def test_lost_events_are_reported_as_a_change(notified, tmp_path, monkeypatch):
    notified.notifier.watch("root", wanted(tmp_path))
    lost = Event(wd=-1, mask=flags.Q_OVERFLOW, cookie=0, name="")
    monkeypatch.setattr(INotify, "read", lambda self, timeout: [lost])
    assert notified.seen() == {("root", True)}


def test_its_thread_reports_without_a_drain(notified, tmp_path):
    notified.notifier.watch("root", wanted(tmp_path))
    (tmp_path / "a.py").write_text("x\n")
    until(lambda: notified.changes)
    assert ("root", False) in notified.changes
