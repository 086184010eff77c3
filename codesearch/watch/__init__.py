"""Keep indexes up to date while their folders change: what watches folders, and which changes matter.

It is inotify on Linux and the observer of watchdog on other systems.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from codesearch.build.stamps import Dependencies
from codesearch.config import PROJECT_FILE
from codesearch.languages import language_of_path
from codesearch.treefiles import IGNORE_FILES

OnChange = Callable[[str, bool], None]
"""Called with a root, and whether its watches may be gone or belong to other paths now."""
_RULES = frozenset({*IGNORE_FILES, PROJECT_FILE, ".git"})


class Notifier(Protocol):
    """Watches the folders of several roots."""

    def watch(self, root: str, wanted: Dependencies) -> None:
        """Watch what a root depends on."""

    def forget(self, root: str) -> None:
        """Watch nothing of a root any more."""

    def drain(self) -> bool:
        """Report every change that was made before the call; return False if the system cannot name them."""


def matters(name: str, content: str, *, is_folder: bool) -> bool:
    """Say whether a change of a file or folder with this name can change an index.

    >>> matters("a.py", "code", is_folder=False), matters("a.log", "code", is_folder=False)
    (True, False)
    >>> matters("README.md", "code", is_folder=False), matters("README.md", "docs", is_folder=False)
    (False, True)
    """
    if is_folder or name in _RULES or "." not in name:  # A file without a suffix may be a script.
        return True
    return language_of_path(name, content) is not None
