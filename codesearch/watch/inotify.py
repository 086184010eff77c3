"""Folders watched by inotify, one watch for each."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import termios
import threading
from collections import defaultdict
from collections.abc import Mapping, Set

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyConstants,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchDescriptor,
)

from codesearch.engine.update import Dependencies
from codesearch.watch.events import OnChange, matters

_MASK = Mask(
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_MOVED_FROM
    | InotifyConstants.IN_MOVED_TO
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
)
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES})


class InotifyNotifier:
    """Watches single folders; all roots share one inotify instance."""

    is_exact = True

    def __init__(self, on_change: OnChange) -> None:
        """Open an inotify instance and start the thread that reads it.

        Raises:
            OSError: the system has no more inotify instances.
        """
        self._on_change = on_change
        self._reader = _Reader()
        self._roots: dict[str, _Watches] = {}
        self._reader.start()

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch what a root depends on, and nothing else.

        All watches are added again: for a folder that is still there the system returns the watch that it has, also if
        the folder was renamed. Only then are the old ones released.

        Raises:
            OSError: the system cannot watch that much; then nothing of the root is watched.
        """
        watches = _Watches(root, wanted.content, self._on_change, self._reader)
        try:
            for folder in wanted.folders:
                watches.add(folder, None)
            for folder, names in _names_by_folder(wanted.files).items():
                watches.add(folder, names)
        except OSError:
            watches.remove()
            self.forget(root)
            raise
        self.forget(root)
        self._roots[root] = watches

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""
        if watches := self._roots.pop(root, None):
            watches.remove()

    def drain(self) -> None:
        """Report the changes that the system has noted so far."""
        self._reader.drain()

    def close(self) -> None:
        """Stop the thread and release all watches."""
        self._roots.clear()
        self._reader.shut()


def _names_by_folder(files: frozenset[str]) -> Mapping[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for file in files:
        folder, name = os.path.split(file)
        names[folder].add(name)
    return names


class _Reader(InotifyFD):
    """Reads events in a thread of its own, or in a thread that has to know that there are no more."""

    def __init__(self) -> None:
        super().__init__()
        self._is_reading = False  # `close` of the base then releases the files itself.
        self._shutting = False
        self._drain_lock = threading.RLock()

    def run(self) -> None:
        while not self._shutting:
            if self._check_inotify_fd() and not self._shutting:
                self.drain()

    def drain(self) -> None:
        with self._drain_lock:
            while not self._shutting and (count := self._unread_bytes()):
                # `read_events` of the base would poll, and only one thread at a time may do that.
                for event in self._parse_event_buffer(os.read(self._inotify_fd, count)):
                    self.handle_event(InotifyEvent(*event))

    def _unread_bytes(self) -> int:
        (count,) = struct.unpack("i", fcntl.ioctl(self._inotify_fd, termios.FIONREAD, b"\0" * 4))
        return int(count)

    def shut(self) -> None:
        self._shutting = True
        os.write(self._kill_w, b"!")
        self.join()
        with self._drain_lock:
            self.stop()


class _Watches:
    """The watches of a root, and what their events mean."""

    def __init__(self, root: str, content: str, on_change: OnChange, reader: _Reader) -> None:
        self._root, self._content, self._on_change, self._reader = root, content, on_change, reader
        self._names: dict[WatchDescriptor, Set[str] | None] = {}
        self._id = CallbackId(id(self))

    def add(self, folder: str, names: Set[str] | None) -> None:
        """Watch a folder: all that matters in it, or only some names."""
        try:
            watch = self._reader.add_callback(os.fsencode(folder), _MASK, self, self._id)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            if names is None:  # It was there a moment ago.
                self._on_change(self._root, True)
            return
        self._names[watch] = names

    def remove(self) -> None:
        """Release the watches that no other root needs."""
        watches, self._names = self._names, {}
        self._reader.remove_callbacks([(watch, self._id) for watch in watches])

    def on_event(self, event: InotifyEvent) -> None:
        """Report an event if it can change the index."""
        names = self._names.get(event.wd)
        name = os.fsdecode(event.name)
        if names is not None:
            if name in names:
                self._on_change(self._root, False)
        elif event.is_delete_self or event.is_move_self:
            self._on_change(self._root, True)
        elif name and matters(name, self._content, is_folder=event.is_directory):
            self._on_change(self._root, event.is_directory and event.is_move)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        """Report that the system released a watch, because its folder is gone."""
        if wd in self._names:
            self._on_change(self._root, True)

    def on_queue_overflow(self) -> None:
        """Report that events were lost."""
        self._on_change(self._root, True)
