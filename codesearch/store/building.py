"""A first index while a process makes it: how much of it is done, for all other processes.

`progress` in the index folder is a line of JSON, {"root": .., "done": .., "total": .., "seconds": ..}, which a process
replaces about once a second: bytes of source, and how long it has worked. It makes the file before it reads the folder,
and deletes it at the end. What is left of a process that was killed says nothing: the lock tells whether one works.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import IndexLockedError
from codesearch.files import file_lock, write_atomically
from codesearch.store.catalogue import INDEXES, LOCK, index_folder

FILE = "progress"
_EVERY_S = 1.0
_LEAST_SHARE = 0.03
"""Before so much is done, how long the rest takes is not estimated."""


@dataclass(frozen=True, slots=True)
class Building:
    """A first index that a process makes; `seconds_left` is None if that is not known yet."""

    root: str
    process: int
    percent: int
    seconds_left: int | None

    @property
    def text(self) -> str:
        """Who makes it and how much is done."""
        left = "" if self.seconds_left is None else f", about {self.seconds_left} s left"
        return f"being indexed by process {self.process}: {self.percent}% done{left}"

    @property
    def error(self) -> IndexLockedError:
        """The error of a question that has to wait for its first part."""
        return IndexLockedError(self.process, self.root, f", which has done {self.percent}%")


@contextmanager
def recorded(folder: Path, root: Path) -> Iterator[Callable[[int, int], None]]:
    """Tell other processes that this one makes the first index of a root; yield what takes done and total bytes."""
    started = last = time.monotonic()
    path = folder / FILE

    def write(done: int, total: int) -> None:
        seconds = round(time.monotonic() - started, 1)
        fields = {"root": str(root.resolve()), "done": done, "total": total, "seconds": seconds}
        with suppress(OSError):  # The build tells if the home is full.
            write_atomically(path, json.dumps(fields).encode(), for_owner=True)

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() > last + _EVERY_S:
            last = time.monotonic()
            write(done, total)

    write(0, 0)
    try:
        yield tell
    finally:
        path.unlink(missing_ok=True)


def building_in(folder: Path) -> Building | None:
    """Return what a process does in an index folder, if it makes the first index; None if none does."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        fields = json.loads((folder / FILE).read_bytes())
        done, total, seconds = (float(fields[name]) for name in ("done", "total", "seconds"))
        with file_lock(folder / LOCK) as owner:
            if owner is not None:
                left = round(seconds * (total - done) / done) if done > _LEAST_SHARE * total else None
                return Building(str(fields["root"]), owner, int(100 * done / max(total, 1)), left)
    return None


def building_around(home: Path, path: Path) -> Building | None:
    """Return the innermost first index of a folder around a path that a process makes."""
    resolved = path.resolve()
    folders = (index_folder(home, root) for root in (resolved, *resolved.parents))
    return next(filter(None, map(building_in, folders)), None)


def list_building(home: Path) -> dict[Path, Building]:
    """Return the folders of first indexes that processes make, in order."""
    folders = sorted(path.parent for path in (home / INDEXES).glob(f"*/{FILE}"))
    return {folder: building for folder in folders if (building := building_in(folder))}
