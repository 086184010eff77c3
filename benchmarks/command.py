"""Runs the command line in a folder and returns what it prints."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from codesearch.processes import python_command


def printed(tree: Path, *words: str, home: Path, columns: int = 0) -> str:
    """Return what `codesearch WORDS` prints in the folder `tree`; a query's notes come first.

    Args:
        tree: the working directory.
        words: the command and its arguments.
        home: the folder of all indexes.
        columns: print with colours for a terminal of this width; 0 for plain text.

    Raises:
        RuntimeError: the command failed.
    """
    command = python_command("codesearch", *words, "--home", str(home.absolute()))
    if columns:
        command += ["--color", "always"]
    variables = {"COLUMNS": str(columns or 80), "TERM": "xterm-256color", "CODESEARCH_NO_SERVICE": "1"}
    finished = subprocess.run(
        command, cwd=tree, env={**os.environ, **variables}, capture_output=True, text=True
    )
    if finished.returncode not in (0, 1):
        raise RuntimeError(finished.stderr)
    return finished.stderr + finished.stdout if words[0] == "query" else finished.stdout
