"""One documented function as a row of `*.jsonl.zst`, in CodeSearchNet's field names where they exist.

Beyond CodeSearchNet: `identifier` is the own name in `func_name`, `package` says which archive it came in,
and `docstring_rest` is what follows the first paragraph, which is `docstring`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import zstandard

from training.errors import TrainingError

MAX_CODE_CHARS = 6_000
PARTITIONS = ("train", "valid", "test")


@dataclass(frozen=True, slots=True)
class Row:
    """A function with its documentation.

    Attributes:
        repo: `owner/name` of the upstream.
        func_name: qualified name.
        code: the function without its docstring, at most `MAX_CODE_CHARS`.
        docstring: first paragraph, on one line, without mark-up.
    """

    repo: str
    package: str
    path: str
    func_name: str
    identifier: str
    language: str
    code: str
    docstring: str
    docstring_rest: str
    partition: str = ""
    url: str = ""


_FIELDS = frozenset(field.name for field in fields(Row))


def write_rows(path: Path, rows: Iterable[Row]) -> int:
    """Write rows to a new file; return how many."""
    path.parent.mkdir(parents=True, exist_ok=True)
    count = 0
    with path.open("wb") as file, zstandard.ZstdCompressor(level=6).stream_writer(file) as stream:
        for row in rows:
            stream.write(json.dumps(asdict(row), ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file; fields that a row does not know are ignored.

    Raises:
        TrainingError: the file is missing or is not rows.
    """
    try:
        for fields_ in read_jsonl_zst(path):
            yield Row(**{key: value for key, value in fields_.items() if key in _FIELDS})
    except (TypeError, ValueError, zstandard.ZstdError) as error:
        raise TrainingError(f"{path}: not a corpus file ({error}): run `corpus extract` again") from None


def read_jsonl_zst(path: Path) -> Iterator[dict[str, str]]:
    """Yield the objects of a zstd-compressed JSON lines file.

    Raises:
        TrainingError: the file is missing.
    """
    if not path.exists():
        raise TrainingError(f"{path} is not there: run `python -m training corpus extract` first")
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, "utf-8"):
            yield json.loads(line)
