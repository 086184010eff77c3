"""What watches folders: inotify on Linux, and watchdog's observer on other systems.

On Linux each folder that the walk enters takes one inotify watch; ignored folders take none. Watchdog's observer would
watch all folders below a root, or start two threads for each folder, so this module uses its inotify reader directly.
"""

from __future__ import annotations

import errno
import logging
import platform
from contextlib import suppress
from typing import Protocol

from codesearch.engine.update import Dependencies
from codesearch.watch.events import OnChange

EXHAUSTED = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that say that the system has no more watches or inotify instances."""


class Notifier(Protocol):
    """Watches the folders of several roots.

    Attributes:
        is_exact: whether `drain` reports every change that was made before the call.
    """

    is_exact: bool

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch what a root depends on, and nothing else.

        Raises:
            OSError: the system cannot watch that much; then nothing of the root is watched.
        """

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""

    def drain(self) -> None:
        """Report the changes that the system has noted so far."""

    def close(self) -> None:
        """Release everything."""


def open_notifier(on_change: OnChange) -> Notifier:
    """Open the notifier of this system.

    Raises:
        OSError: the system has no more inotify instances.
    """
    # Watchdog warns of lost events, which are reported anyway.
    logging.getLogger("watchdog").addHandler(logging.NullHandler())
    if platform.system() == "Linux":
        with suppress(ModuleNotFoundError):  # A Python without POSIX's modules.
            from codesearch.watch.inotify import InotifyNotifier

            return InotifyNotifier(on_change)
    from codesearch.watch.observer import ObserverNotifier

    return ObserverNotifier(on_change)
