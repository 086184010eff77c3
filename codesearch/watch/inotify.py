"""Folders watched by inotify, one watch for each."""

from __future__ import annotations

import errno
import os
import select
import threading
from collections import defaultdict
from collections.abc import Collection, Set
from contextlib import suppress

from inotify_simple import Event, INotify, flags

from codesearch.engine.update import Dependencies
from codesearch.watch.notifier import OnChange, matters

_CONTENT = flags.MODIFY | flags.CLOSE_WRITE | flags.ATTRIB | flags.CREATE | flags.DELETE
_MOVED = flags.MOVED_FROM | flags.MOVED_TO
_SELF = flags.DELETE_SELF | flags.MOVE_SELF | flags.IGNORED
_MASK = _CONTENT | _MOVED | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES})


class InotifyNotifier:
    """Watches single folders; all roots share one inotify instance. Two roots may watch the same folder."""

    is_exact = True

    def __init__(self, on_change: OnChange) -> None:
        """Open an inotify instance and start the thread that reads it.

        Raises:
            OSError: the system has no more inotify instances.
        """
        self._on_change = on_change
        self._inotify = INotify()
        self._lock = threading.RLock()
        self._content: dict[str, str] = {}
        self._users: dict[int, dict[str, Set[str] | None]] = {}
        """Watch -> root -> the names that matter in this folder, or None if all do."""
        self._end_read, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._read_until_closed, daemon=True)
        self._thread.start()

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch what a root depends on, and nothing else.

        All watches are added again: for a folder that is still there the system returns the watch that it has, also if
        the folder was renamed. Only then are the old ones released.

        Raises:
            OSError: the system cannot watch that much; then nothing of the root is watched.
        """
        names: dict[str, Set[str] | None] = dict.fromkeys(wanted.folders)
        of_files: dict[str, set[str]] = defaultdict(set)
        for file in wanted.files:
            of_files[os.path.dirname(file)].add(os.path.basename(file))
        self._content[root] = wanted.content
        added = set()
        try:
            for folder, wanted_names in (names | of_files).items():
                added.add(self._add(root, folder, wanted_names))
        except OSError:
            self.forget(root)
            raise
        self._release(root, self._users.keys() - added)

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""
        self._release(root, list(self._users))

    def drain(self) -> None:
        """Report the changes that the system has noted so far."""
        with self._lock:
            if not self._inotify.closed:
                for event in self._inotify.read(timeout=0):
                    self._report(event)

    def close(self) -> None:
        """Stop the thread and release all watches."""
        os.close(self._end_write)
        self._thread.join()
        with self._lock:
            self._inotify.close()
        os.close(self._end_read)

    def _read_until_closed(self) -> None:
        while self._end_read not in select.select([self._inotify, self._end_read], [], [])[0]:
            self.drain()

    def _add(self, root: str, folder: str, names: Set[str] | None) -> int:
        """Watch a folder; return the watch, or -1 if the folder is gone."""
        try:
            with self._lock:
                watch = int(self._inotify.add_watch(folder, _MASK))
                self._users.setdefault(watch, {})[root] = names
                return watch
        except OSError as error:
            if error.errno not in _GONE:
                raise
            if names is None:  # It was there a moment ago.
                self._on_change(root, True)
            return -1

    def _release(self, root: str, watches: Collection[int]) -> None:
        """Release watches of a root, unless another root needs them."""
        with self._lock:
            for watch in watches:
                users = self._users[watch]
                users.pop(root, None)
                if not users:
                    del self._users[watch]
                    with suppress(OSError):  # The system has released it, because its folder is gone.
                        self._inotify.rm_watch(watch)

    def _report(self, event: Event) -> None:
        """Report an event to the roots whose indexes it can change."""
        if event.mask & flags.Q_OVERFLOW:  # Events were lost.
            for root in {root for users in self._users.values() for root in users}:
                self._on_change(root, True)
            return
        users = self._users.pop(event.wd, {}) if event.mask & flags.IGNORED else self._users.get(event.wd, {})
        is_folder = bool(event.mask & flags.ISDIR)
        for root, names in list(users.items()):
            if names is not None:
                if event.name in names:
                    self._on_change(root, False)
            elif event.mask & _SELF:
                self._on_change(root, True)
            elif event.name and matters(event.name, self._content[root], is_folder=is_folder):
                self._on_change(root, is_folder and bool(event.mask & _MOVED))
