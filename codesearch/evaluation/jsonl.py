"""JSON lines, plain, gzip or zstandard by their suffix -> objects; what else there is, is one clear error."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

from codesearch.errors import ConfigError, MissingExtraError


def read_jsonl(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each object of a file, after the place to name in an error.

    Raises:
        ConfigError: the file is not there, is damaged, or holds something else.
        MissingExtraError: it is zstandard, and zstandard is not installed.
    """
    number = 0
    try:
        with _opened(path) as lines:
            for number, line in enumerate(lines, 1):
                found = json.loads(line)
                if not isinstance(found, dict):
                    raise ConfigError(f"{path}:{number}: not an object: give a file of JSON lines")
                yield f"{path}:{number}", found
    except FileNotFoundError:
        raise ConfigError(f"{path} is not there: give the folder of the suite's data") from None
    except (ValueError, OSError, EOFError, zlib.error) as error:
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
    """Return the first of some fields that a record has, as text.

    Raises:
        ConfigError: it has none of them.
    """
    for name in names:
        if record.get(name) is not None:
            value = record[name]
            return " ".join(map(str, value)) if isinstance(value, list) else str(value)
    raise ConfigError(f"{place}: no field {' or '.join(names)}: give data of this suite")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    with ExitStack() as stack:
        stream: Any = stack.enter_context(open(path, "rb"))
        if path.suffix == ".gz":
            stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        elif path.suffix == ".zst":
            stream = stack.enter_context(_unpacked(path, stream))
        yield stack.enter_context(io.TextIOWrapper(stream, "utf-8"))


@contextmanager
def _unpacked(path: Path, packed: IO[bytes]) -> Iterator[Any]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise MissingExtraError("zstandard", "bench") from None
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as stream:
            yield stream
    except zstandard.ZstdError as error:
        raise ConfigError(f"{path}: damaged ({error}): get it again") from None
