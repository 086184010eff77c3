"""Folders watched by inotify, one watch for each that the walk enters."""

from __future__ import annotations

import errno
import os
import select
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from contextlib import suppress
from typing import BinaryIO

from inotify_simple import Event, INotify, flags

from codesearch.build.stamps import Dependencies
from codesearch.watch import OnChange, matters

_CONTENT = flags.MODIFY | flags.CLOSE_WRITE | flags.ATTRIB | flags.CREATE | flags.DELETE
_MOVED = flags.MOVED_FROM | flags.MOVED_TO
_SELF = flags.DELETE_SELF | flags.MOVE_SELF | flags.IGNORED
_NAMES = flags.CREATE | flags.DELETE | _MOVED | flags.ONLYDIR | flags.MASK_ADD
_MASK = _CONTENT | _NAMES | flags.DELETE_SELF | flags.MOVE_SELF
_MOUNTS = "/proc/self/mountinfo"
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES})


class InotifyNotifier:
    """Watches single folders; all roots share one inotify instance. Two roots may watch the same folder."""

    def __init__(self, on_change: OnChange) -> None:
        """Open an inotify instance and start the thread that reads it."""
        self._on_change = on_change
        self._inotify = INotify()
        self._mounts = select.poll()
        self._mount_table: BinaryIO | None = None
        with suppress(OSError):  # There may be no /proc.
            self._mount_table = open(_MOUNTS, "rb")
            self._mounts.register(self._mount_table, select.POLLPRI)
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
        """
        names: dict[str, Set[str] | None] = dict.fromkeys(wanted.folders)
        of_files, above = _by_folder(wanted.files), _by_folder(wanted.above)
        for folder in above.keys() & of_files:
            above[folder] |= of_files[folder]
        self._content[root] = wanted.content
        added = set()
        try:
            for folder, wanted_names in (of_files | above | names).items():
                mask = _NAMES if folder not in of_files and wanted_names is not None else _MASK
                added.add(self._add(root, folder, wanted_names, mask))
        except OSError:
            self.forget(root)
            raise
        self._release(root, self._users.keys() - added)

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""
        self._release(root, list(self._users))

    def drain(self) -> bool:
        """Report what the system has noted: it notes a change before the call that makes it returns."""
        with self._lock:
            if not self._inotify.closed:
                for event in self._inotify.read(timeout=0):
                    self._report(event)
                if self._mounts.poll(0):  # What is mounted over a folder makes no event in it.
                    self._report_all()
        return True

    def close(self) -> None:
        """Stop the thread and release all watches."""
        os.close(self._end_write)
        self._thread.join()
        with self._lock:
            self._inotify.close()
            if self._mount_table:
                self._mount_table.close()
        os.close(self._end_read)

    def _read_until_closed(self) -> None:
        while self._end_read not in select.select([self._inotify, self._end_read], [], [])[0]:
            self.drain()

    def _add(self, root: str, folder: str, names: Set[str] | None, mask: int) -> int:
        """Watch a folder; return the watch, or -1 if the folder is gone."""
        try:
            with self._lock:
                watch = int(self._inotify.add_watch(folder, mask))
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
            self._report_all()
            return
        users = self._users.pop(event.wd, {}) if event.mask & flags.IGNORED else self._users.get(event.wd, {})
        is_folder = bool(event.mask & flags.ISDIR)
        for root, names in list(users.items()):
            if names is not None:
                if event.name in names:
                    self._on_change(root, is_folder)
            elif event.mask & _SELF:
                self._on_change(root, True)
            elif event.name and matters(event.name, self._content[root], is_folder=is_folder):
                self._on_change(root, is_folder and bool(event.mask & _MOVED))

    def _report_all(self) -> None:
        for root in {root for users in self._users.values() for root in users}:
            self._on_change(root, True)


def _by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    """Group names by their folders. A folder that does not exist counts as a name in the nearest one that does."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        folder, name = os.path.split(path)
        while name and not os.path.isdir(folder):
            folder, name = os.path.split(folder)
        if name:
            found[folder].add(name)
    return found
