"""The home: the folder of all indexes. This module imports almost nothing, because the client of a service starts fast.

Only its owner can read a home. The modes of its folders and files do not depend on the umask.
"""

from __future__ import annotations

import os
import stat
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
    """Let only the owner enter and read a home that others could; later calls find that done.

    Nothing happens if the folder has other files too, belongs to another user, or has no permissions.
    """
    if not hasattr(os, "getuid"):  # On Windows, the profile of a user is private.
        return
    home = os.path.realpath(home)
    try:
        names = os.listdir(home)
    except OSError:
        return
    if not FOLDERS.issuperset(names):
        return
    _close(home)
    for name in names:
        if _close(os.path.join(home, name)):
            for folder, folders, files in os.walk(os.path.join(home, name)):
                for path in (os.path.join(folder, one) for one in (*folders, *files)):
                    _close(path)


def mark_used(folder: str | os.PathLike[str]) -> None:
    """Record that a folder is used, so that it is kept; a home that cannot be written stays as it is."""
    with suppress(OSError):
        os.utime(folder)


def _close(path: str) -> bool:
    """Take the permissions of others from a folder or file of this user; say whether that changed something."""
    try:
        seen = os.lstat(path)
        kind = stat.S_IFMT(seen.st_mode)
        if (
            kind not in (stat.S_IFDIR, stat.S_IFREG)
            or seen.st_uid != os.getuid()
            or not seen.st_mode & _OTHERS
        ):
            return False
        os.chmod(path, 0o700 if kind == stat.S_IFDIR else 0o600)
        return not os.lstat(path).st_mode & _OTHERS
    except OSError:
        return False
