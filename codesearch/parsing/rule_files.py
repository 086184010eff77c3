"""Where ignore files are. Every query asks, so this module imports nothing of the project."""

from __future__ import annotations

import os
from pathlib import Path

IGNORE_FILES = (".gitignore", ".codesearchignore")
EXCLUDE_FILE = os.path.join(".git", "info", "exclude")


def rule_files_above(root: Path) -> list[tuple[str, str]]:
    """List the ignore files between the top of the git work tree and `root`, which itself is not included.

    Returns:
        The absolute path of each, which need not exist, and the path from its folder to `root` with a slash at the end.
    """
    absolute = root.resolve()
    tops = [folder for folder in (absolute, *absolute.parents) if (folder / ".git").exists()]
    if not tops:
        return []
    parts = absolute.relative_to(tops[0]).parts
    return [
        (str(tops[0].joinpath(*parts[:depth], name)), "".join(f"{part}/" for part in parts[depth:]))
        for depth in range(len(parts))
        for name in (*(() if depth else (EXCLUDE_FILE,)), *IGNORE_FILES)
    ]
