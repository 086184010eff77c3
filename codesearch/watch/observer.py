"""Roots watched by the observer of watchdog, for systems that watch a whole tree with one handle."""

from __future__ import annotations

import os

from watchdog.events import (
    EVENT_TYPE_CLOSED_NO_WRITE,
    EVENT_TYPE_MODIFIED,
    EVENT_TYPE_OPENED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from codesearch.build.stamps import Dependencies
from codesearch.watch import OnChange, matters

_READ = frozenset({EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE})


class ObserverNotifier:
    """Watches whole trees. Rules above a root are noticed by the check of every minute."""

    def __init__(self, on_change: OnChange) -> None:
        """Start the observer."""
        self._on_change = on_change
        self._observer = Observer()
        self._observer.start()
        self._roots: dict[str, ObservedWatch] = {}

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch the tree of a root."""
        self.forget(root)
        self._roots[root] = self._observer.schedule(
            _Handler(root, wanted, self._on_change), root, recursive=True
        )

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""
        if watch := self._roots.pop(root, None):
            self._observer.unschedule(watch)

    def drain(self) -> bool:
        """Return False: the observer cannot say if there are changes that it has not reported."""
        return False

    def close(self) -> None:
        """Stop the threads of the observer."""
        self._observer.stop()
        self._observer.join()


class _Handler(FileSystemEventHandler):
    """Reports the events of a root that can change its index."""

    def __init__(self, root: str, wanted: Dependencies, on_change: OnChange) -> None:
        self._root, self._content, self._on_change = root, wanted.content, on_change
        self._folders, self._files = set(map(_plain, wanted.folders)), set(map(_plain, wanted.files))
        self._plain_root = _plain(root)

    def on_any_event(self, event: FileSystemEvent) -> None:
        # The files and folders in a modified folder have their own events.
        if event.event_type in _READ or (event.is_directory and event.event_type == EVENT_TYPE_MODIFIED):
            return
        paths = [_plain(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path]
        if self._plain_root in paths:  # Deleted, renamed or made again.
            self._on_change(self._root, True)
        elif any(self._matters(path, is_folder=event.is_directory) for path in paths):
            self._on_change(self._root, False)

    def _matters(self, path: str, *, is_folder: bool) -> bool:
        folder, name = os.path.split(path)
        in_walk = folder in self._folders and matters(name, self._content, is_folder=is_folder)
        return in_walk or path in self._files


def _plain(path: str) -> str:
    """Return a path in the form in which two names of one file are equal."""
    return os.path.normcase(os.path.normpath(path))
