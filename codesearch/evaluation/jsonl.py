"""JSON lines -> objects or a tree of files. A suffix says if a file is plain, gzip or zstandard; damage is one error.

A pack of source files has `repo, sha, path, text` in each line.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from codesearch.errors import ConfigError, MissingExtraError

DAMAGED = (ValueError, OSError, EOFError, RecursionError, zlib.error)
"""Exceptions of `read_lines` and `json.loads` for a file that is damaged or is not JSON lines."""


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, decompressed by its suffix: `.gz`, `.zst`, or neither."""
    with open(path, "rb") as stream:
        if path.suffix == ".gz":
            yield from gzip.GzipFile(fileobj=stream)
        elif path.suffix == ".zst":
            try:
                import zstandard
            except ModuleNotFoundError:
                raise MissingExtraError("zstandard") from None
            unpacker = zstandard.ZstdDecompressor()
            try:
                yield from io.BufferedReader(unpacker.stream_reader(stream, read_across_frames=True))
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
        else:
            yield from stream


def read_jsonl(path: Path, *names: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of each line; `place` names the line in errors, and `names` are fields of each object."""
    number = 0
    try:
        for number, line in enumerate(read_lines(path), 1):
            found = json.loads(line.decode())
            if not isinstance(found, dict):
                raise ConfigError(f"{path}:{number}: not an object", "give a file of JSON lines")
            for name in names:
                field(f"{path}:{number}", found, name)
            yield f"{path}:{number}", found
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there", "check the path of the data") from None
    except DAMAGED as error:
        raise ConfigError(f"{path}:{max(number, 1)}: not JSON lines ({error})", "get it again") from None


def field(place: str, record: Mapping[str, Any], *names: str) -> str:
    """Return the text of the first of these fields that a record has."""
    for name in names:
        if record.get(name) is not None:
            value = record[name]
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)
    raise ConfigError(f"{place}: no field {' or '.join(names)}", "give data of this suite")


def unpack(pack: Path, tree: Path, on_progress: Callable[[str, int, int], None]) -> None:
    """Write a pack's files to a folder, `owner/name/commit/path` each."""
    tree.mkdir(parents=True, exist_ok=True)
    number = 0
    for number, (place, row) in enumerate(read_jsonl(pack), 1):
        path = PurePosixPath(*(field(place, row, name) for name in ("repo", "sha", "path")))
        if path.is_absolute() or ".." in path.parts:
            raise ConfigError(f"{place}: path {str(path)!r} leads out of the folder: refused")
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(field(place, row, "text").encode())
        on_progress("unpack", number, 0)
    if not number:
        raise ConfigError(f"{pack}: no files in it", "get it again")
