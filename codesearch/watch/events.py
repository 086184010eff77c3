"""Which changes of files and folders can change an index."""

from __future__ import annotations

import os
from collections.abc import Callable

from codesearch.config import PROJECT_FILE
from codesearch.parsing.ignore import IGNORE_FILES
from codesearch.parsing.languages import language_of_path

OnChange = Callable[[str, bool], None]
"""Called with a root, and whether its watches may be gone or belong to other paths now."""
_RULES = frozenset({*IGNORE_FILES, PROJECT_FILE, ".git"})


def matters(name: str, content: str, *, is_folder: bool) -> bool:
    """Say whether a change of a file or folder with this name can change an index.

    >>> matters("a.py", "code", is_folder=False), matters("a.log", "code", is_folder=False)
    (True, False)
    >>> matters("README.md", "code", is_folder=False), matters("README.md", "docs", is_folder=False)
    (False, True)
    """
    if is_folder or name in _RULES or "." not in name:  # A file without a suffix may be a script.
        return True
    return language_of_path(os.path.basename(name), content) is not None
