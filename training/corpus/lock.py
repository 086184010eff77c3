"""`sources.lock.json` next to a recipe: the version and download size of each package of a corpus.

The recipe names the packages, and the lock pins their versions, so the same corpus can be made again. The lock maps
`LANGUAGE/NAME` to `{"version": ..., "bytes": ...}`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from training.errors import TrainingError


@dataclass(frozen=True, slots=True)
class Pin:
    """The version of a package and the size of its download; "" and 0 if not pinned."""

    version: str = ""
    bytes: int = 0


def lock_of(recipe: Path) -> Path:
    """Return the lock that belongs to a recipe."""
    return recipe.with_suffix(".lock.json")


def read_lock(recipe: Path) -> dict[str, Pin]:
    """Read the pins of a recipe; there are none if it has no lock.

    Raises:
        TrainingError: the file is not a lock.
    """
    path = lock_of(recipe)
    if not path.exists():
        return {}
    try:
        return {key: Pin(**fields) for key, fields in json.loads(path.read_text("utf-8")).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise TrainingError(
            f"{path}: not a lock ({error}): write it again with `corpus fetch --update`"
        ) from None


def write_lock(recipe: Path, pins: Mapping[str, Pin]) -> None:
    """Write the pins of a recipe, one package per line."""
    lines = [f"{json.dumps(key)}: {json.dumps(asdict(pin))}" for key, pin in sorted(pins.items())]
    lock_of(recipe).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
