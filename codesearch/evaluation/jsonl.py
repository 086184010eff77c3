"""JSON lines -> objects. The suffix says if a file is plain, gzip or zstandard. Any other content is one error."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from codesearch.errors import ConfigError, MissingExtraError

DAMAGED = (ValueError, OSError, EOFError, zlib.error)
"""Exceptions of `read_lines` and `json.loads` for a file that is damaged or is not JSON lines."""


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, decompressed by its suffix: `.gz`, `.zst`, or neither.

    Raises:
        OSError: the file is not there or cannot be read.
        ValueError, EOFError, zlib.error: it is damaged.
        MissingExtraError: it is compressed with zstandard, which is not installed.
    """
    with open(path, "rb") as stream:
        if path.suffix == ".gz":
            yield from gzip.GzipFile(fileobj=stream)
        elif path.suffix == ".zst":
            yield from _unpacked(stream)
        else:
            yield from stream


def read_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) of each line; `place` names the line in errors.

    Raises:
        ConfigError: the file is not there, is damaged, or holds something else.
        MissingExtraError: it is compressed with zstandard, which is not installed.
    """
    number = 0
    try:
        for number, line in enumerate(read_lines(path), 1):
            found = json.loads(line.decode())
            if not isinstance(found, dict):
                raise ConfigError(f"{path}:{number}: not an object: give a file of JSON lines")
            yield f"{path}:{number}", found
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there: check the path of the data") from None
    except DAMAGED as error:
        raise ConfigError(f"{path}:{max(number, 1)}: not JSON lines ({error}): get it again") from None


def one_file(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that matches a pattern.

    Raises:
        ConfigError: there is none, or several.
    """
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ConfigError(
            f"{folder}: {len(found)} files {pattern}, expected 1: give --data the suite's folder"
        )
    return found[0]


def field(place: str, record: Mapping[str, Any], *names: str) -> str:
    """Return the text of the first of these fields that a record has.

    Raises:
        ConfigError: it has none of them.
    """
    for name in names:
        if record.get(name) is not None:
            value = record[name]
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)
    raise ConfigError(f"{place}: no field {' or '.join(names)}: give data of this suite")


def _unpacked(packed: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError("zstandard") from None
    with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
        try:
            yield from io.BufferedReader(stream)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from None
