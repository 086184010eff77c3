"""watchdog's observer of macOS and Windows, which watches whole trees: which of its events are reported."""

from collections.abc import Iterator

import pytest
from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileClosedNoWriteEvent,
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileOpenedEvent,
)

from codesearch.build.stamps import Dependencies
from codesearch.watch.observer import ObserverNotifier
from tests.command import until
from tests.conftest import write_tree

ROOT = "/src"
WANTED = Dependencies(
    (1, ""), 0, "code", frozenset({"/src/", "/src/sub/"}), frozenset({"/src/.git/x"}), frozenset()
)


class Recorded(ObserverNotifier):
    """A notifier that records what it reports."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, bool]] = []
        super().__init__(lambda root, is_stale: self.changes.append((root, is_stale)))


@pytest.fixture
def observer() -> Iterator[Recorded]:
    observer = Recorded()
    yield observer
    observer.close()


def test_changes_in_a_watched_tree_are_reported_until_its_root_is_forgotten(observer, tmp_path):
    write_tree(tmp_path / "src", {"sub/a.py": ""})
    write_tree(tmp_path / "other", {"a.py": ""})
    for root in (tmp_path / "src", tmp_path / "other"):
        folders = frozenset(f"{folder}/" for folder in (root, root / "sub"))
        observer.watch(str(root), Dependencies((1, ""), 0, "code", folders, frozenset(), frozenset()))
    (tmp_path / "src/sub/a.py").write_text("x\n")
    until(lambda: (str(tmp_path / "src"), False) in observer.changes)
    assert not observer.drain()
    observer.forget(str(tmp_path / "src"))
    observer.changes.clear()
    (tmp_path / "src/sub/a.py").write_text("y\n")
    (tmp_path / "other/a.py").write_text("x\n")
    until(lambda: observer.changes)
    assert set(observer.changes) == {(str(tmp_path / "other"), False)}


def test_a_root_that_is_gone_cannot_be_watched(observer, tmp_path):
    with pytest.raises(OSError):
        observer.watch(str(tmp_path / "gone"), WANTED)


@pytest.mark.parametrize(
    ("event", "reported"),
    [
        (FileModifiedEvent("/src/sub/a.py"), [False]),
        (FileModifiedEvent(b"/src/sub/a.py"), [False]),
        (FileMovedEvent("/src/a.tmp", "/src/a.py"), [False]),  # As editors save.
        (FileMovedEvent("/elsewhere/a.py", "/src/a.py"), [False]),
        (FileModifiedEvent("/src/.gitignore"), [False]),
        (FileModifiedEvent("/src/.git/x"), [False]),  # A file with rules.
        (DirCreatedEvent("/src/new"), [False]),
        (DirMovedEvent("/src/sub", "/src/moved"), [False]),
        (DirDeletedEvent("/src"), [True]),
        (FileModifiedEvent("/src/a.log"), []),
        (FileModifiedEvent("/src/node_modules/a.js"), []),
        (FileCreatedEvent("/src/.git/index"), []),
        (DirModifiedEvent("/src/sub"), []),
        (FileOpenedEvent("/src/a.py"), []),
        (FileClosedNoWriteEvent("/src/a.py"), []),
    ],
)
def test_an_event_is_reported_if_it_can_change_the_index(observer, monkeypatch, event, reported):
    handlers = []
    monkeypatch.setattr(observer._observer, "schedule", lambda handler, *_, **__: handlers.append(handler))
    observer.watch(ROOT, WANTED)
    handlers[0].dispatch(event)
    assert [is_stale for _, is_stale in observer.changes] == reported
