"""Which folder is the home where no option says. Imports next to nothing, for the client of a service to use."""

from __future__ import annotations

import os


def default_home() -> str:
    """Return the folder that holds all indexes: `CODESEARCH_HOME`, or the XDG data folder's."""
    if home := os.environ.get("CODESEARCH_HOME"):
        return os.path.expanduser(home)
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return os.path.join(os.path.expanduser(data), "codesearch")
