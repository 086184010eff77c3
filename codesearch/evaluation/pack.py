"""A pack of source files (JSON lines with `repo, sha, path, text`, zstandard) -> a tree, kept by the pack's hash."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl

_WRITTEN = 1_500_000_000
"""Time stamp of all files, in seconds. The index would not trust that of a file written a moment ago."""


def unpacked(pack: Path, cache: Path, on_progress: Callable[[str, int, int], None]) -> Path:
    """Return the folder of a pack's files, `owner/name/commit/path` each; unpack them the first time.

    Raises:
        ConfigError: the pack is damaged, or a path in it leads elsewhere.
        MissingExtraError: zstandard is not installed.
    """
    with open(pack, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    target = cache / digest[:16]
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="unpack-", dir=cache) as scratch:
            tree = Path(scratch, "tree")
            unpack(pack, tree, on_progress)
            try:
                os.rename(tree, target)
            except OSError:
                if not target.is_dir():  # Another run may have unpacked it meanwhile.
                    raise
    return target


def unpack(pack: Path, tree: Path, on_progress: Callable[[str, int, int], None]) -> None:
    """Write a pack's files to a new folder. Their time stamps are older than any index, as in most trees.

    Raises:
        ConfigError: the pack is damaged, or a path in it leads elsewhere.
        MissingExtraError: zstandard is not installed.
    """
    tree.mkdir()
    for number, (place, row) in enumerate(read_jsonl(pack), 1):
        _write(place, tree, row)
        on_progress("unpack", number, 0)
    if not any(tree.iterdir()):
        raise ConfigError(f"{pack}: no files in it: get it again")


def _write(place: str, tree: Path, row: dict[str, Any]) -> None:
    path = PurePosixPath(*(field(place, row, name) for name in ("repo", "sha", "path")))
    if path.is_absolute() or ".." in path.parts:
        raise ConfigError(f"{place}: path {str(path)!r} leads out of the folder: refused")
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(field(place, row, "text").encode())
    os.utime(target, (_WRITTEN, _WRITTEN))
