"""Stamps of a root's last walk. With them, a check for changes needs no walk (see `current`).

    stamps    compressed by zlib, which adds a checksum: one line of JSON, {"version": 4, "commit": .., "files": N,
              "passed": P, "watched": M, "taken_ns": ..}; N + P + M paths below the root, each ended by a zero byte;
              then the five numbers of each stamp, int64

"passed" are files that the walk looked at and left out, although their names do not tell why: a file without a suffix
that is not executable or no script, a large file, one that cannot be read, a link without a target. "watched" counts
folders that the walk entered and ignore files. The stamp of a folder changes if a file is added, removed or renamed in
it. Ignore files above the root have absolute paths.

A stamp with a negative mode is doubtful and equals no other: the file or folder changed just before the walk and may
change again without a new stamp. The file `stamps` is disposable.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from codesearch.files import RACY_NS, Stamp, write_atomically

FILE = "stamps"
_VERSION = 4
_NUMBERS = 5
_BYTES = 8 * _NUMBERS


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of files and watched paths at a walk: path -> stamp.

    Attributes:
        files: of the source files.
        passed: of files that were looked at and left out.
        watched: of folders and ignore files.
        taken_ns: wall clock time after the last stamp was taken; 0 if unknown.
    """

    files: dict[str, Stamp] = field(default_factory=dict)
    passed: dict[str, Stamp] = field(default_factory=dict)
    watched: dict[str, Stamp] = field(default_factory=dict)
    taken_ns: int = field(default=0, compare=False)


def write_stamps(index_folder: Path, stamps: Stamps, commit: int) -> None:
    """Write the stamps of a commit; without them the next check is a walk."""
    parts = {"files": stamps.files, "passed": stamps.passed, "watched": stamps.watched}
    names = b"".join(
        path.encode("utf-8", "surrogateescape") + b"\0" for part in parts.values() for path in part
    )
    numbers = array("q", (number for part in parts.values() for one in part.values() for number in one))
    counts = {name: len(part) for name, part in parts.items()}
    head = json.dumps({"version": _VERSION, "commit": commit, **counts, "taken_ns": stamps.taken_ns})
    content = zlib.compress(head.encode() + b"\n" + names + numbers.tobytes(), 1)
    with suppress(OSError):  # The home is full or read-only.
        write_atomically(index_folder / FILE, content, for_owner=True)


def read_stamps(index_folder: Path, commit: int | None = None) -> Stamps:
    """Read the stamps of one commit, or of any commit; return empty stamps if there are none."""
    try:
        head, _, rest = zlib.decompress((index_folder / FILE).read_bytes()).partition(b"\n")
        fields = json.loads(head)
        counts = [fields[name] for name in ("files", "passed", "watched")]
        if fields["version"] != _VERSION or (commit is not None and fields["commit"] != commit):
            return Stamps()
        end = len(rest) - _BYTES * sum(counts)
        numbers = array("q", rest[end:])
        names = rest[:end].decode("utf-8", "surrogateescape").split("\0")[:-1]
        stamps = zip(names, zip(*[iter(numbers)] * _NUMBERS, strict=True), strict=True)
        files, passed, watched = (dict(islice(stamps, count)) for count in counts)
        return Stamps(files, passed, watched, fields["taken_ns"])
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return Stamps()


def trusted(
    new: Mapping[str, Stamp], started_ns: int, old: Mapping[str, Stamp], old_taken_ns: int
) -> dict[str, Stamp]:
    """Return stamps to store; mark those as doubtful that are too recent to show the next change.

    A stamp is old enough if an earlier walk found the same one, so time stamps in the future are read only twice.
    """
    limit_ns = started_ns - RACY_NS
    known = old if old_taken_ns <= limit_ns else {}
    return {
        path: stamp
        if max(stamp[1], stamp[2]) <= limit_ns or known.get(path) in (stamp, doubtful(stamp))
        else doubtful(stamp)
        for path, stamp in new.items()
    }


def doubtful(stamp: Stamp) -> Stamp:
    """Return a stamp that equals no stamp of a file.

    >>> doubtful((3, 5, 7, 11, 33188))
    (3, 5, 7, 11, -33189)
    """
    return *stamp[:4], ~stamp[4]


def is_folder(path: str) -> bool:
    """Say whether a watched path is a folder below the root."""
    return not path or path.endswith("/")
