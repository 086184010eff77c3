"""The default home folder. This module imports almost nothing, because the client of a service must start fast."""

from __future__ import annotations

import os


def default_home() -> str:
    """Return the folder that holds all indexes: `CODESEARCH_HOME`, or `codesearch` in the user's data folder."""
    if home := os.environ.get("CODESEARCH_HOME"):
        return os.path.expanduser(home)
    local = os.environ.get("LOCALAPPDATA") if os.name == "nt" else None
    data = os.environ.get("XDG_DATA_HOME") or local or "~/.local/share"
    return os.path.join(os.path.expanduser(data), "codesearch")
