"""The watcher with a fake clock, a fake notifier and a fake engine."""

import errno
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from codesearch.build.stamps import Dependencies
from codesearch.engine.answer import Changes, Freshness
from codesearch.errors import IndexCorruptError, IndexNotFoundError
from codesearch.watch.watcher import CHECK_S, FAILED_S, QUIET_S, RETRY_S, SETTLE_S, Watcher, WatchEvent

NOTHING, ONE = Changes(0, 0), Changes(1, 0)


@dataclass
class Engine:
    """Answer from lists, and count the checks."""

    root: Path
    states: list[object] = field(default_factory=list)
    version: int = 1
    checks: int = 0
    folders: frozenset[str] = frozenset({"/src/"})

    def refresh(self, root: Path, *, budget_s: float) -> Freshness:
        self.checks += 1
        state = self.states.pop(0) if self.states else "current"
        if isinstance(state, Exception):
            raise state
        if callable(state):
            state = state()
        self.version += state == "updated"
        return Freshness(str(root), state, ONE if state == "updated" else NOTHING)

    def dependencies(self, root: Path) -> Dependencies:
        return Dependencies((self.version, "then"), 7, "code", self.folders, frozenset(), frozenset())

    def indexed_roots(self) -> dict[str, int]:
        return {str(self.root): self.version}


@dataclass
class Notifier:
    """Record what to watch."""

    on_change: Callable[[str, bool], None]
    watched: dict[str, Dependencies] = field(default_factory=dict)
    calls: int = 0
    is_exact: bool = True
    unread: list[str] = field(default_factory=list)
    fails_with: int = 0

    def watch(self, root: str, wanted: Dependencies) -> None:
        self.calls += 1
        if self.fails_with:
            raise OSError(self.fails_with, "inotify watch limit reached")
        self.watched[root] = wanted

    def forget(self, root: str) -> None:
        self.watched.pop(root, None)

    def drain(self) -> bool:
        while self.unread:
            self.on_change(self.unread.pop(), False)
        return self.is_exact


class Stage:
    """A watcher of one root with a clock that the test sets."""

    def __init__(self, root: Path, **notifier: object) -> None:
        self.root, self.now = root.resolve(), 100.0
        self.engine, self.reports = Engine(self.root), []

        def open_notifier(on_change: Callable[[str, bool], None]) -> Notifier:
            self.notifier = Notifier(on_change, **notifier)
            return self.notifier

        self.watcher = Watcher(
            self.engine, self.reports.append, roots=[root], notifier=open_notifier, clock=lambda: self.now
        )

    def pass_time(self, seconds: float = 0.0) -> int:
        """Let time pass and run due checks; return their number."""
        before, end = self.engine.checks, self.now + seconds
        while True:
            due = self.watcher.wait_for_due(self.now)
            for root in due:
                self.watcher.check(root)
            if not due:
                wake = min(root.due for root in self.watcher._roots.values())
                if wake > end:
                    break
                self.now = wake
        self.now = end
        return self.engine.checks - before

    def change(self, is_stale: bool = False) -> None:
        self.notifier.on_change(str(self.root), is_stale)

    def is_unchanged(self) -> bool:
        manifest = SimpleNamespace(root=str(self.root), commit=self.engine.version, created="then")
        return self.watcher.is_unchanged(manifest)

    @property
    def states(self) -> list[str]:
        return [report.state for report in self.reports]


@pytest.fixture
def stage(tmp_path) -> Stage:
    stage = Stage(tmp_path)
    stage.pass_time()
    return stage


def test_a_root_is_checked_once_more_after_its_folders_are_watched(stage):
    assert stage.engine.checks == 2 and stage.notifier.calls == 1
    assert stage.reports == [WatchEvent(stage.root, "watching", documents=7, folders=1)]


def test_many_changes_lead_to_one_check(stage):
    for _ in range(5000):
        stage.change()
    assert stage.pass_time(QUIET_S / 2) == 0
    assert stage.pass_time(QUIET_S) == 1


def test_an_update_is_reported_and_followed_by_a_check_when_time_stamps_can_be_trusted(stage):
    stage.engine.states = ["updated"]
    stage.change()
    assert stage.pass_time(QUIET_S * 2) == 1
    assert stage.reports[-1] == WatchEvent(stage.root, "updated", ONE, documents=7)
    assert stage.pass_time(SETTLE_S) == 1
    assert stage.pass_time(CHECK_S / 2) == 0 and stage.pass_time(CHECK_S) == 1


def test_a_query_does_not_skip_its_check_of_an_index_that_is_behind(stage):
    stage.engine.states = ["behind"]
    stage.change()
    assert stage.pass_time(QUIET_S) == 1
    assert not stage.is_unchanged()


def test_a_query_can_skip_its_check_only_if_nothing_has_changed(stage):
    assert stage.is_unchanged()
    stage.change()
    assert not stage.is_unchanged()
    stage.pass_time(1.0)
    assert stage.is_unchanged()


def test_a_change_that_was_not_read_yet_is_noticed(stage):
    stage.notifier.unread = [str(stage.root)]
    assert not stage.is_unchanged()


def test_a_change_during_a_check_leaves_the_root_changed(stage):
    def change() -> str:
        stage.change()
        return "current"

    stage.engine.states = [change]
    stage.change()
    (root,) = stage.watcher._roots.values()
    stage.watcher.check(root)
    assert not stage.is_unchanged()
    stage.pass_time(1.0)
    assert stage.is_unchanged()


def test_an_index_that_another_process_wrote_counts_as_changed(stage):
    stage.engine.version += 1
    assert not stage.is_unchanged()


def test_with_a_notifier_that_reports_late_queries_always_check(tmp_path):
    stage = Stage(tmp_path, is_exact=False)
    stage.pass_time()
    assert stage.states == ["watching"] and not stage.is_unchanged()


def test_new_folders_are_watched_and_checked_again(stage):
    stage.engine.folders |= {"/src/new/"}
    stage.change()
    assert stage.pass_time(1.0) == 2
    assert stage.notifier.watched[str(stage.root)].folders == {"/src/", "/src/new/"}
    assert stage.is_unchanged() and stage.states == ["watching"]


def test_folders_are_watched_again_after_a_rename_or_lost_events(stage):
    stage.change(is_stale=True)
    stage.pass_time(1.0)
    assert stage.notifier.calls == 2 and stage.is_unchanged()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EMFILE])
def test_without_inotify_watches_the_root_is_polled_and_the_reason_is_reported_once(tmp_path, number):
    stage = Stage(tmp_path, fails_with=number)
    assert stage.pass_time(60.0) == 31
    reason = "the system has no inotify watches left: raise fs.inotify.max_user_watches"
    assert stage.reports == [WatchEvent(stage.root, "polling", seconds=2.0, reason=reason)]
    assert not stage.is_unchanged()


def test_without_an_inotify_instance_roots_are_polled(tmp_path):
    def refuse(on_change: object) -> Notifier:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    stage = Stage(tmp_path)
    stage.watcher = Watcher(
        stage.engine, stage.reports.append, roots=[tmp_path], notifier=refuse, clock=lambda: stage.now
    )
    assert stage.pass_time(10.0) == 6 and stage.states == ["polling"]


def test_without_the_package_of_the_notifier_roots_are_polled(tmp_path):
    def absent(on_change: object) -> Notifier:
        raise ModuleNotFoundError(name="watchdog")

    stage = Stage(tmp_path)
    stage.watcher = Watcher(
        stage.engine, stage.reports.append, roots=[tmp_path], notifier=absent, clock=lambda: stage.now
    )
    assert stage.pass_time(10.0) == 6
    assert stage.reports[-1].reason == "watchdog is not installed"


def test_the_interval_grows_with_the_cost_of_a_check(tmp_path):
    stage = Stage(tmp_path, fails_with=errno.ENOSPC)

    def slow() -> str:
        stage.now += 0.1
        return "current"

    stage.engine.states = [slow]
    stage.pass_time()
    assert stage.reports[-1].seconds == pytest.approx(15.0)


def test_a_root_that_is_deleted_and_created_again_is_watched_again(tmp_path):
    stage = Stage(tmp_path / "src")
    stage.root.mkdir()
    stage.pass_time()
    stage.root.rmdir()
    stage.change(is_stale=True)
    stage.pass_time(5.0)
    assert stage.states == ["watching", "gone"] and stage.notifier.watched == {}
    stage.root.mkdir()
    stage.engine.states = ["updated"]
    stage.pass_time(RETRY_S)
    assert stage.states == ["watching", "gone", "back", "updated"]
    assert str(stage.root) in stage.notifier.watched and stage.is_unchanged()


def test_a_root_that_was_deleted_while_it_should_be_watched_is_watched_when_it_is_back(tmp_path):
    stage = Stage(tmp_path / "src", fails_with=errno.ENOENT)
    stage.root.mkdir()
    stage.pass_time()
    stage.root.rmdir()
    stage.pass_time(10.0)
    stage.notifier.fails_with = 0
    stage.root.mkdir()
    stage.pass_time(RETRY_S)
    assert stage.states == ["polling", "gone", "back", "watching"]


def test_the_watcher_retries_while_another_process_writes_the_index(stage):
    stage.engine.states = ["locked", "locked", "updated"]
    stage.change()
    stage.pass_time(QUIET_S)
    assert not stage.is_unchanged()
    assert stage.pass_time(2 * RETRY_S) == 2
    assert stage.states == ["watching", "updated"]


def test_an_error_is_reported_once_and_does_not_end_the_watcher(stage):
    error = IndexCorruptError(Path("manifest.json"), "is damaged", str(stage.root))
    stage.engine.states = [error, error, "updated"]
    stage.change()
    stage.pass_time(QUIET_S + 2 * FAILED_S)
    assert stage.states == ["watching", "failed", "updated"]
    assert stage.reports[1] == replace(WatchEvent(stage.root, "failed"), reason=str(error))


def test_a_root_whose_index_is_removed_is_no_longer_watched(stage):
    stage.engine.states = [IndexNotFoundError("no index")]
    stage.change()
    stage.now += QUIET_S
    stage.watcher.run()  # Returns, because no root is left.
    assert stage.states == ["watching", "forgotten"] and stage.notifier.watched == {}
