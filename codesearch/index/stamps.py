"""Time stamps of a root's last walk. With them, a check for changes needs no walk.

    stamps    one line of JSON, {"commit": .., "files": N, "watched": M, "listed_ns": .., "is_partial": .., "crc32": C}
              C is the checksum of what follows: N + M paths below the root, each ended by a zero byte, files first;
              then size and mtime_ns of each, int64

"watched" counts folders and ignore files. The folders are those that the walk entered; the time stamp of a folder
changes if a file is added, removed or renamed in it. Ignore files above the root have absolute paths. A time stamp of 0
never matches. It belongs to a file or folder that changed just before the walk and may change again without a new time
stamp. The file `stamps` is disposable.
"""

from __future__ import annotations

import json
import os
import sys
import time
from array import array
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from zlib import crc32

from codesearch.files import stamp_of, write_atomically

FILE = "stamps"
RACY_NS = 2_000_000_000
"""A file that was written within this time before the walk may change again without a new time stamp."""
Stamp = tuple[int, int]
"""Size in bytes and mtime_ns, as `codesearch.files.stamp_of` returns them."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of files and watched paths at a walk: path -> size and mtime_ns.

    Attributes:
        files: stamps of the source files.
        watched: stamps of folders and ignore files.
        listed_ns: wall clock time before the folders were listed; 0 if unknown.
        is_partial: whether only changed folders were listed since the last whole walk. Then the counts of skipped files
            are those of that walk.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    watched: dict[str, Stamp] = field(default_factory=dict)
    listed_ns: int = field(default=0, compare=False)
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """A root compared with the stamps of one of its commits.

    Attributes:
        commit: the commit.
        stamps: its stamps.
        changed: the result of `changed_files`.
        folders: folders whose stamps changed; empty if `changed` is None.
        started_ns: wall clock time before the first file was checked.
    """

    commit: int
    stamps: Stamps
    changed: dict[str, Stamp] | None
    folders: frozenset[str]
    started_ns: int

    @property
    def is_current(self) -> bool:
        """Say whether nothing changed."""
        return self.changed == {} and not self.folders


def compare(root: str, index_folder: Path, commit: int) -> Comparison:
    """Compare a root with the stamps of a commit without a walk."""
    started_ns = time.time_ns()
    stamps = read_stamps(index_folder, commit)
    folders = changed_folders(root, stamps)
    changed = None if folders is None else changed_files(root, stamps)
    return Comparison(commit, stamps, changed, folders or frozenset(), started_ns)


def write_stamps(index_folder: Path, stamps: Stamps, commit: int) -> None:
    """Write the stamps of a commit; without them the next check is a walk."""
    entries = [*stamps.files.items(), *stamps.watched.items()]
    names = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path, _ in entries)
    numbers = array("q", (number for _, stamp in entries for number in stamp))
    if sys.byteorder == "big":
        numbers.byteswap()
    rest = names + numbers.tobytes()
    counts = {"files": len(stamps.files), "watched": len(stamps.watched)}
    listed = {"listed_ns": stamps.listed_ns, "is_partial": stamps.is_partial}
    head = json.dumps({"commit": commit, **counts, **listed, "crc32": crc32(rest)})
    with suppress(OSError):  # The home is full or read-only.
        write_atomically(index_folder / FILE, head.encode() + b"\n" + rest)


def read_stamps(index_folder: Path, commit: int | None = None) -> Stamps:
    """Read the stamps of one commit, or of any commit; return empty stamps if there are none."""
    try:
        head, _, rest = (index_folder / FILE).read_bytes().partition(b"\n")
        fields = json.loads(head)
        count = fields["files"] + fields["watched"]
        if (commit is not None and fields["commit"] != commit) or fields["crc32"] != crc32(rest):
            return Stamps()
        numbers = array("q", rest[len(rest) - 16 * count :])
        if sys.byteorder == "big":
            numbers.byteswap()
        names = rest[: len(rest) - 16 * count].decode("utf-8", "surrogateescape").split("\0")[:-1]
    except (OSError, ValueError, KeyError, TypeError):
        return Stamps()
    if len(names) != count:
        return Stamps()
    pairs = list(zip(names, zip(numbers[::2], numbers[1::2], strict=True), strict=True))
    return Stamps(
        dict(pairs[: fields["files"]]),
        dict(pairs[fields["files"] :]),
        fields.get("listed_ns", 0),
        fields.get("is_partial", False),
    )


def changed_folders(root: str, stamps: Stamps) -> frozenset[str] | None:
    """Find the folders whose stamps changed; None if a walk is needed, because an ignore file changed or is unknown."""
    if not stamps.watched:
        return None
    below = os.path.join(root, "")
    places = ((path, path if os.path.isabs(path) else below + path) for path in stamps.watched)
    changed = frozenset(path for path, place in places if stamp_of(place) != stamps.watched[path])
    return changed if all(map(is_folder, changed)) else None


def changed_files(root: str, stamps: Stamps) -> dict[str, Stamp]:
    """Find the files whose stamps changed: path -> current stamp, (-1, -1) for a file that no longer exists."""
    below = os.path.join(root, "")
    seen = ((path, stamp_of(below + path), stamp) for path, stamp in stamps.files.items())
    return {path: now for path, now, stamp in seen if now != stamp}


def trusted_mtime(mtime_ns: int, started_ns: int) -> int:
    """Return the time stamp to store; if it is too recent to be reliable, return 0, which no file has."""
    return 0 if mtime_ns > started_ns - RACY_NS else mtime_ns


def is_folder(path: str) -> bool:
    """Say whether a watched path is a folder below the root."""
    return not path or path.endswith("/")
