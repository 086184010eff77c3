"""A pack of source files (JSON lines with `repo, sha, path, text`, zstandard) -> a tree, kept by the pack's hash."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from codesearch.errors import ConfigError, MissingExtraError


def unpacked(pack: Path, cache: Path, on_progress: Callable[[str, int, int], None]) -> Path:
    """Return the folder of a pack's files, `owner/name/commit/path` each; unpack them unless that was done before.

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
            _unpack(pack, tree, on_progress)
            try:
                os.rename(tree, target)
            except OSError:
                if not target.is_dir():  # Else another run was quicker.
                    raise
    return target


def _unpack(pack: Path, tree: Path, on_progress: Callable[[str, int, int], None]) -> None:
    zstandard = _zstandard()
    size = pack.stat().st_size
    try:
        with open(pack, "rb") as packed:
            stream = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(packed), "utf-8")
            for number, line in enumerate(stream, 1):
                _write(pack, tree, number, json.loads(line))
                on_progress("unpack", packed.tell(), size)
    except (zstandard.ZstdError, ValueError) as error:
        raise ConfigError(f"{pack}: damaged ({error}): get it again") from None


def _write(pack: Path, tree: Path, number: int, row: dict[str, Any]) -> None:
    try:
        path = PurePosixPath(row["repo"], row["sha"], row["path"])
        text = row["text"]
    except (KeyError, TypeError):
        raise ConfigError(f"{pack}:{number}: no repo, sha, path and text: not a pack of sources") from None
    if path.is_absolute() or ".." in path.parts:
        raise ConfigError(f"{pack}:{number}: path {str(path)!r} leads out of the folder: refused")
    target = tree / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())


def _zstandard() -> Any:  # noqa: ANN401 - an optional module.
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError("zstandard", "bench") from None
    return zstandard
