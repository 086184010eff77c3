"""The home: the folder of all indexes. This module imports almost nothing, because the client of a service starts fast.

Only its owner can read a home. The modes of its folders and files do not depend on the umask.
"""

from __future__ import annotations

import os
from contextlib import suppress

REVISIONS = "revisions"
COMMITS = "commits"
FOLDERS = frozenset(("indexes", "cache", "scratch", "service", REVISIONS, COMMITS))
"""What a home contains."""
_OTHERS = 0o077


def default_home() -> str:
    """Return the folder that holds all indexes: `CODESEARCH_HOME`, or `codesearch` in the user's data folder."""
    if home := os.environ.get("CODESEARCH_HOME"):
        return os.path.expanduser(home)
    local = os.environ.get("LOCALAPPDATA") if os.name == "nt" else None
    named = os.path.expanduser(os.environ.get("XDG_DATA_HOME", ""))
    data = named if os.path.isabs(named) else os.path.expanduser(local or "~/.local/share")
    return os.path.join(data, "codesearch")  # A relative folder would be inside of a repository.


def make_private(home: str) -> None:
    """Let only the owner enter a home that others could, so that they cannot reach what is in it.

    Nothing happens if the folder has other files too, belongs to another user, or has no permissions.
    """
    if not hasattr(os, "getuid"):  # On Windows, the profile of a user is private.
        return
    with suppress(OSError):
        seen = os.stat(home)
        if seen.st_uid == os.getuid() and seen.st_mode & _OTHERS and FOLDERS.issuperset(os.listdir(home)):
            os.chmod(home, 0o700)


def mark_used(folder: str | os.PathLike[str]) -> None:
    """Record that a folder is used, so that it is kept; a home that cannot be written stays as it is."""
    with suppress(OSError):
        os.utime(folder)
