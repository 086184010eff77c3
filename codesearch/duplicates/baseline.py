"""A file with groups of functions that somebody has accepted as duplicates: JSON with the key of each function."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from codesearch.duplicates.records import Group
from codesearch.errors import ConfigError
from codesearch.files import write_atomically

_VERSION = 1


def write(path: Path, groups: Sequence[Group]) -> None:
    """Write groups."""
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path} is not a regular file: give another --write-baseline")
    keys = [sorted({function.key for function in group.functions}) for group in groups]
    content = json.dumps({"version": _VERSION, "groups": sorted(keys)}, indent=1)
    try:
        write_atomically(path, content.encode() + b"\n")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: give another --write-baseline") from None


def read(path: Path) -> list[list[str]]:
    """Return the groups in a file, each as the keys of its functions."""
    try:
        found = json.loads(path.read_bytes())
        if found["version"] == _VERSION:
            return [list(map(str, keys)) for keys in found["groups"]]
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}: give a file of --write-baseline") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ConfigError(f"{path} is no baseline of this version: make it with --write-baseline")
