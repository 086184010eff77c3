"""`sources.lock.json` beside a recipe: the version and download size of each package that a corpus was made from.

The recipe says which packages; the lock says which versions of them, so that the same corpus can be made again. It
maps `LANGUAGE/NAME` to `{"version": ..., "bytes": ...}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from training.errors import TrainingError


@dataclass(frozen=True, slots=True)
class Pin:
    """The version of a package and the size of what its client downloads; empty and 0 for not pinned."""

    version: str = ""
    bytes: int = 0


def lock_of(recipe: Path) -> Path:
    """Return the lock that belongs to a recipe."""
    return recipe.with_suffix(".lock.json")


def read_lock(recipe: Path) -> dict[str, Pin]:
    """Read the pins of a recipe; none when it has no lock.

    Raises:
        TrainingError: the lock is not one.
    """
    path = lock_of(recipe)
    if not path.exists():
        return {}
    try:
        return {key: Pin(**fields) for key, fields in json.loads(path.read_text("utf-8")).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise TrainingError(
            f"{path}: not a lock ({error}): write it anew with `corpus fetch --update`"
        ) from None


def write_lock(recipe: Path, pins: Mapping[str, Pin]) -> None:
    """Write the pins of a recipe, a package a line."""
    lines = [f"{json.dumps(key)}: {json.dumps(asdict(pin))}" for key, pin in sorted(pins.items())]
    lock_of(recipe).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
