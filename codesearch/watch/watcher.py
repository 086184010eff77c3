"""Keep indexes up to date while their folders change.

An event only says that a root has to be checked. `Engine.refresh` then finds what has changed, so lost events cost
nothing but time, and a check every minute finds what no event announced. Where the system cannot watch a root, the root
is checked at an interval that takes less than one percent of a core.
"""

from __future__ import annotations

import errno
import math
import platform
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.build.stamps import Dependencies
from codesearch.engine.answer import Changes, Freshness, State
from codesearch.errors import CodeSearchError, IndexNotFoundError
from codesearch.store.manifest import Manifest
from codesearch.watch import Notifier, OnChange

if TYPE_CHECKING:
    from codesearch.engine.engine import Engine

QUIET_S = 0.1
"""An update waits until nothing has changed for this long."""
LIMIT_S = 2.0
"""An update starts after this time even if changes go on."""
EXHAUSTED = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say that the system has no more watches or inotify instances."""
CHECK_S = 60.0
"""Between two checks of a watched root in which nothing changes."""
SETTLE_S = 3.0
"""A check that follows an update; then all time stamps are old enough to be trusted, and later checks take less."""
RETRY_S = 0.5
"""Before another try: another process writes the index, or the root is gone."""
FAILED_S = 5.0
"""Before another try after an error."""
_POLL_FACTOR = 150.0
"""An interval between checks without events is this many times as long as a check."""
_MIN_POLL_S, _MAX_POLL_S = 2.0, 60.0
_CATALOGUE_S = 2.0


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """What happened to a root.

    The state is "watching"; "polling", the system cannot watch it; "updated"; "gone"; "back"; "failed"; or "forgotten",
    its index was removed. The seconds are those of an update, or between two checks if the state is "polling".
    """

    root: Path
    state: str
    changes: Changes = Changes(0, 0)
    documents: int = 0
    seconds: float = 0.0
    folders: int = 0
    reason: str = ""


@dataclass(slots=True)
class _Root:
    """A watched root; `due` is when to check it next."""

    path: Path
    first_change: float = math.inf  # Since the last check began; also `last_change`.
    last_change: float = math.inf
    check_at: float = 0.0  # Even if no event comes.
    mode: str = ""  # "watching" or "polling"; "" before the first check.
    # What is watched; None if the watches may be gone or belong to other paths now.
    wanted: Dependencies | None = None
    is_gone: bool = False
    # The version of the index that has all changes; None if there may be others.
    unchanged: tuple[int, str] | None = None
    error: str = ""  # The last one that was reported; "" after a check without an error.
    stamp: int = 0  # Changes with every commit of the index.

    @property
    def due(self) -> float:
        return min(self.last_change + QUIET_S, self.first_change + LIMIT_S, self.check_at)


def open_notifier(on_change: OnChange) -> Notifier:
    """Open the notifier of this system."""
    if platform.system() == "Linux":
        from codesearch.watch.inotify import InotifyNotifier

        return InotifyNotifier(on_change)
    from codesearch.watch.observer import ObserverNotifier

    return ObserverNotifier(on_change)


class Watcher:
    """Updates the indexes of some roots, or of all roots of a home. `run` is its loop, and its process ends it.

    The other methods may be called from any thread.
    """

    def __init__(
        self,
        engine: Engine,
        on_event: Callable[[WatchEvent], None],
        *,
        roots: Iterable[Path] | None = None,
        notifier: Callable[[OnChange], Notifier] = open_notifier,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take what to watch; nothing is watched before `run`."""
        self._engine, self._on_event, self._clock = engine, on_event, clock
        self._condition = threading.Condition()
        self._is_all = roots is None
        self._roots = {str(path): _Root(path) for path in map(Path.resolve, roots or ())}
        self._notifier: Notifier | None = None
        self._no_notifier = ""
        try:
            self._notifier = notifier(self.touch)
        except OSError as error:
            self._no_notifier = _reason(error)
        except ModuleNotFoundError as error:
            self._no_notifier = f"{error.name} is not installed"

    def run(self) -> None:
        """Watch and update, until no root is left if some were named."""
        catalogue_at = 0.0
        while self._roots or self._is_all:
            if self._is_all and self._clock() >= catalogue_at:
                self._read_catalogue()
                catalogue_at = self._clock() + _CATALOGUE_S
            for root in self.wait_for_due(catalogue_at if self._is_all else math.inf):
                self.check(root)

    def touch(self, root: str, is_stale: bool = False) -> None:
        """Note that something changed below a root."""
        with self._condition:
            if found := self._roots.get(root):
                found.wanted = None if is_stale else found.wanted
                found.unchanged, found.last_change = None, self._clock()
                if found.first_change == math.inf:
                    found.first_change = found.last_change
                    self._condition.notify_all()

    def is_unchanged(self, manifest: Manifest) -> bool:
        """Say whether the index with this manifest is known to have all changes of its root.

        The answer is yes only if every folder is watched, and no event has come since the last check began.
        """
        if self._notifier is None or not self._notifier.drain():
            return False
        with self._condition:
            root = self._roots.get(manifest.root)
            return root is not None and root.unchanged == (manifest.commit, manifest.created)

    def wait_for_due(self, until: float) -> list[_Root]:
        """Wait for roots to check; return none at the time `until`."""
        with self._condition:
            while True:
                now = self._clock()
                if due := [root for root in self._roots.values() if root.due <= now]:
                    return due
                if now >= until:
                    return []
                wake = min([until, *(root.due for root in self._roots.values())])
                self._condition.wait(None if wake == math.inf else wake - now)

    def check(self, root: _Root) -> None:
        """Bring the index of a root up to date, and watch what it depends on."""
        with self._condition:
            root.first_change = root.last_change = math.inf
            root.unchanged = None
        try:
            self._refresh(root)
            root.error = ""
        except IndexNotFoundError:
            self._forget(root)
        except (CodeSearchError, OSError) as error:
            root.check_at = self._clock() + FAILED_S
            if str(error) != root.error:
                root.error = str(error)
                self._on_event(WatchEvent(root.path, "failed", reason=root.error))

    def _refresh(self, root: _Root) -> None:
        started = self._clock()
        if not root.path.is_dir():
            root.check_at = self._clock() + RETRY_S
            if not root.is_gone:
                root.is_gone, root.wanted = True, None
                if self._notifier:
                    self._notifier.forget(str(root.path))
                    if root.mode == "polling":  # It may have failed because the folder was being deleted.
                        root.mode = ""
                self._on_event(WatchEvent(root.path, "gone"))
            return
        if root.is_gone:
            root.is_gone = False
            self._on_event(WatchEvent(root.path, "back"))
        found = self._engine.refresh(root.path, budget_s=math.inf)
        if found.state == State.LOCKED:
            root.check_at = self._clock() + RETRY_S
            return
        seconds = self._clock() - started
        is_polling = self._notifier is None or root.mode == "polling"
        is_needed = found.state == State.UPDATED or not is_polling
        wanted = self._engine.dependencies(root.path) if is_needed else None
        if found.state == State.UPDATED:
            documents = wanted.documents if wanted else 0
            self._on_event(WatchEvent(root.path, "updated", found.changes, documents, seconds))
        if is_polling:
            self._poll(root, self._no_notifier, found, seconds)
        else:
            self._follow(root, wanted, found, seconds)

    def _follow(self, root: _Root, wanted: Dependencies | None, found: Freshness, seconds: float) -> None:
        """Watch what the index depends on now, and decide when to check again."""
        if wanted is None:  # Another process has just written the index.
            root.check_at = self._clock() + RETRY_S
            return
        with self._condition:
            is_same, root.wanted = root.wanted == wanted, wanted
            if is_same and found.state != State.BEHIND and root.first_change == math.inf:
                root.unchanged = wanted.version
        if is_same:
            root.check_at = self._clock() + (SETTLE_S if found.state == State.UPDATED else CHECK_S)
            return
        assert self._notifier is not None
        try:
            self._notifier.watch(str(root.path), wanted)
        except OSError as error:
            self._poll(root, _reason(error), found, seconds)
            return
        if root.mode != "watching":
            root.mode = "watching"
            documents, folders = wanted.documents, len(wanted.folders)
            self._on_event(WatchEvent(root.path, "watching", documents=documents, folders=folders))
        root.check_at = self._clock()  # Something may have changed before its folder was watched.

    def _poll(self, root: _Root, reason: str, found: Freshness, seconds: float) -> None:
        # The time of an update says nothing about a check.
        usual = min(max(_MIN_POLL_S, _POLL_FACTOR * seconds), _MAX_POLL_S)
        interval = SETTLE_S if found.state == State.UPDATED else usual
        root.check_at = self._clock() + interval
        if root.mode != "polling":
            root.mode, root.wanted = "polling", None
            self._on_event(WatchEvent(root.path, "polling", seconds=interval, reason=reason))

    def _forget(self, root: _Root) -> None:
        with self._condition:
            self._roots.pop(str(root.path), None)
        if self._notifier:
            self._notifier.forget(str(root.path))
        self._on_event(WatchEvent(root.path, "forgotten"))

    def _read_catalogue(self) -> None:
        """Begin to watch roots that are indexed now; check those whose index another process has written."""
        with suppress(OSError):
            indexed = self._engine.indexed_roots()
            for path, stamp in indexed.items():
                with self._condition:
                    root = self._roots.setdefault(path, _Root(Path(path)))
                    if root.stamp != stamp:
                        root.stamp, root.check_at = stamp, 0.0
            for root in [root for path, root in self._roots.items() if path not in indexed]:
                self._forget(root)


def _reason(error: OSError) -> str:
    if error.errno in EXHAUSTED:
        return "the system has no inotify watches left: raise fs.inotify.max_user_watches"
    return error.strerror or str(error)
