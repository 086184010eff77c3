"""The error of training, and reading and writing of files: what is wrong with a file is an error that names it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from codesearch.errors import CodeSearchError

_Kind = TypeVar("_Kind")


class TrainingError(CodeSearchError):
    """A corpus, run, bundle or download that cannot be used; the message says what, where and the cure."""


def read_json(kind: type[_Kind], path: Path, cure: str, *, lines: bool = False) -> _Kind:
    """Read a JSON file, or JSON lines as a list, as a dataclass or another type; an error ends with the `cure`."""
    with _reading(path, cure):
        content = path.read_bytes()
        return TypeAdapter(kind).validate_json(
            b"[%s]" % b",".join(content.splitlines()) if lines else content
        )


def read_toml(kind: type[_Kind], path: Path, cure: str) -> _Kind:
    """Do the same with a TOML file."""
    with _reading(path, cure):
        return TypeAdapter(kind).validate_python(tomllib.loads(path.read_text("utf-8")))


@contextmanager
def _reading(path: Path, cure: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise TrainingError(f"{path} is not there: {cure}") from None
    except OSError as error:
        raise TrainingError(f"{path}: {error.strerror}: {cure}") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "".join(f"{part}: " for part in first["loc"])
        raise TrainingError(f"{path}: damaged ({where}{first['msg']}): {cure}") from None
    except (ValueError, RecursionError) as error:
        raise TrainingError(f"{path}: not TOML ({error}): {cure}") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file in the error if it cannot be written, because the disk is full for example."""
    try:
        yield
    except OSError as error:
        where, reason = error.filename or path, error.strerror or error
        raise TrainingError(
            f"{where}: {reason}: free the disk or give another path, then run it again"
        ) from None
