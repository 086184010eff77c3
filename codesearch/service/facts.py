"""What a command needs to know of the process that started it. Imports next to nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from codesearch.home import default_home

_VARIABLES = (
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "NO_COLOR",
    "TERM",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    "XDG_CONFIG_HOME",
)
"""What `rich` reads of the environment to choose colours and width, and where the user's settings lie."""


def facts(arguments: Sequence[str] = ()) -> dict[str, object]:
    """Return what a command needs to know of this process.

    Returns:
        `arguments`; `folder`, the working directory; `home`, the default one of indexes; `user_home`, that `~` stands
        for; `variables` of the environment that matter; `columns` of the terminal, 0 where there is none; and of stdout
        and stderr the `streams`, whether each is a terminal, and its encoding.
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
    """Return the width of the terminal; 0 where there is none."""
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns
        except OSError:  # Not a terminal.
            continue
    return 0
