"""Names of definitions for the completion of shells: at each Tab, so it imports next to nothing and asks no service."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import closing, suppress

from codesearch.files import default_home, unique_name

_OF_PLACES = ("read", "outline", "usages", "similar", "history")
"""Commands whose first argument may be a name."""
_MOST = 100


def complete() -> list[str]:
    """Print the names that the last typed word begins, and exit; return the typed words if other ones are meant.

    Typer's scripts for shells set these variables.
    """
    shell = os.environ["_CODESEARCH_COMPLETE"].removeprefix("complete_")
    if shell == "bash":
        words, at = os.environ.get("COMP_WORDS", "").split(), int(os.environ.get("COMP_CWORD", "0"))
        words = [*words[:at], *(words[at : at + 1] or [""])]
    else:
        line = os.environ.get("_TYPER_COMPLETE_ARGS", "")
        words = line.split() + [""] * line.endswith(" ")
    if len(words) == 3 and words[1] in _OF_PLACES and words[2].replace(".", "_").isidentifier():
        folder = _index_folder(os.getcwd())
        names = set(_names(folder, words[2])) if folder else set()
        same_case = {name for name in names if name.startswith(words[2])}
        if listed := sorted(same_case or names)[:_MOST]:
            _print(shell, listed)
            sys.exit(0)
    return words


def _print(shell: str, names: list[str]) -> None:
    if shell == "zsh":
        print("_arguments '*: :(({}))'".format("\n".join(f'"{name}"' for name in names)))
    elif os.environ.get("_TYPER_COMPLETE_FISH_ACTION") != "is-args":
        print("\n".join(names))


def _index_folder(path: str) -> str | None:
    """Return the folder of the innermost index around a path, if there is one."""
    while True:
        folder = os.path.join(default_home(), "indexes", unique_name(os.path.basename(path), path))
        if os.path.exists(os.path.join(folder, "manifest.json")):
            return folder
        if path == (path := os.path.dirname(path)):
            return None


def _names(folder: str, begun: str) -> Iterator[str]:
    """Yield the names that some text begins, whatever its case; after `Class.`, those in classes of that name."""
    import sqlite3

    owner, dot, name = begun.rpartition(".")
    end = name.lower()[:-1] + chr(ord(name.lower()[-1]) + 1) if name else "{"
    wanted = "SELECT DISTINCT name, file_id FROM documents WHERE name >= ?1 COLLATE NOCASE AND name < ?2 COLLATE NOCASE"
    if owner:
        wanted += " AND '.' || qualified_name LIKE '%.' || ?3 || '.' || name"
    with suppress(OSError, ValueError, KeyError, sqlite3.Error):  # A Tab shows no errors.
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            segments = json.load(file)["segments"]
        for segment in segments:
            dead = set(segment["dead_files"])
            path = os.path.join(folder, "segments", f"{segment['number']:06}", "documents.sqlite")
            with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
                for found, file_id in database.execute(wanted, (name, end, owner)[: 3 if owner else 2]):
                    # A shell evaluates what it reads.
                    if file_id not in dead and found.isidentifier():
                        yield f"{owner}{dot}{found}"
