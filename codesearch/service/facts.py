"""Facts that a command needs about the process that started it. Imports next to nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from codesearch.home import default_home

_VARIABLES = (
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "TERM",
    "XDG_CONFIG_HOME",
)
"""Variables that decide about colours and width, and those that locate the user's settings."""


def facts(arguments: Sequence[str] = ()) -> dict[str, object]:
    """Return the facts that a command needs about this process.

    Returns:
        `arguments`; `folder`, the working directory; `home`, the default folder of indexes; `user_home`, the meaning
        of `~`; `variables`, those of the environment that matter; `columns` of the terminal, 0 if there is none;
        `streams`, for stdout and stderr whether it is a terminal, and its encoding.
    """
    return {
        "arguments": list(arguments),
        "folder": os.getcwd(),
        "home": default_home(),
        "user_home": os.path.expanduser("~"),
        "variables": {
            name: value
            for name, value in os.environ.items()
            if name in _VARIABLES or name.startswith("CODESEARCH_")
        },
        "columns": _columns(),
        "streams": [(stream.isatty(), stream.encoding) for stream in (sys.stdout, sys.stderr)],
    }


def _columns() -> int:
    """Return the width of the terminal; 0 if there is none."""
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:  # Stdout is not a terminal.
            continue
    return 0
