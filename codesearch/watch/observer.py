"""Roots watched by the observer of watchdog, for systems that watch a whole tree with one handle."""

from __future__ import annotations

import os

from watchdog.events import (
    EVENT_TYPE_CLOSED_NO_WRITE,
    EVENT_TYPE_OPENED,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import ObservedWatch

from codesearch.engine.update import Dependencies
from codesearch.watch.notifier import OnChange, matters

_READ = frozenset({EVENT_TYPE_OPENED, EVENT_TYPE_CLOSED_NO_WRITE})


class ObserverNotifier:
    """Watches whole trees. Its events arrive late, so an index is never known to be up to date without a check."""

    def __init__(self, on_change: OnChange) -> None:
        """Start the observer."""
        self._on_change = on_change
        self._observer = Observer()
        self._observer.start()
        self._roots: dict[str, ObservedWatch] = {}

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch the tree of a root."""
        self.forget(root)
        handler = _Handler(root, wanted.content, self._on_change)
        self._roots[root] = self._observer.schedule(handler, root, recursive=True)

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""
        if watch := self._roots.pop(root, None):
            self._observer.unschedule(watch)

    def drain(self) -> bool:
        """Return False: the observer cannot say if there are changes that it has not reported."""
        return False


class _Handler(FileSystemEventHandler):
    def __init__(self, root: str, content: str, on_change: OnChange) -> None:
        self._root, self._content, self._on_change = root, content, on_change

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in _READ:
            return
        places: list[str | bytes] = [event.src_path, event.dest_path]
        names = [os.path.basename(os.fsdecode(place)) for place in places if place]
        if any(matters(name, self._content, is_folder=event.is_directory) for name in names):
            self._on_change(self._root, False)
