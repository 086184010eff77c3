"""Is an index up to date? Every query, `index`, `watch` and `status` asks `compare`, which needs no walk.

An index is up to date if nothing that its last walk depends on has changed: the stamps of files and folders, the places
of ignore files above the root, and the settings. The module imports fast, because most queries find nothing to do.

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
import os
import time
import zlib
from array import array
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from codesearch.config import IndexOptions, WalkConfig
from codesearch.files import ABSENT, RACY_NS, Stamp, stamp, write_atomically
from codesearch.settings import index_options, user_file
from codesearch.store.manifest import MadeWith, Manifest
from codesearch.treefiles import rule_files_above

FILE = "stamps"
_VERSION = 4
_NUMBERS = 5
_BYTES = 8 * _NUMBERS


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of files and watched paths at a walk: path -> stamp."""

    files: dict[str, Stamp] = field(default_factory=dict)  # Of the source files.
    passed: dict[str, Stamp] = field(default_factory=dict)  # Of files that were looked at and left out.
    watched: dict[str, Stamp] = field(default_factory=dict)  # Of folders and ignore files.
    taken_ns: int = field(default=0, compare=False)  # Wall clock time after the last stamp; 0 if unknown.


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


Settings = tuple[WalkConfig, IndexOptions]
"""The walk settings in force, and the part of them that options set."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A root compared with one commit of its index."""

    index_folder: Path
    manifest: Manifest  # Of the commit.
    settings: Settings  # In force now.
    stamps: Stamps  # Of the commit.
    # Source files whose stamps changed -> their stamps now; None if a walk is needed.
    changed: Mapping[str, Stamp] | None
    started_ns: int  # Wall clock time before the first file was checked.

    @property
    def is_current(self) -> bool:
        """Say whether nothing changed."""
        return self.changed == {}


def walk_in_force(root: Path, made_with: MadeWith | None, given: IndexOptions) -> Settings:
    """Return the walk settings of an index now: of options, those given now and then earlier ones come first."""
    options = given.over(IndexOptions.of(made_with.options)) if made_with else given
    return options.over(index_options(root)).over(WalkConfig()), options


def compare(index_folder: Path, manifest: Manifest, settings: Settings | None = None) -> Comparison:
    """Compare a root with a commit of its index."""
    started_ns = time.time_ns()
    settings = settings or walk_in_force(Path(manifest.root), manifest, IndexOptions())
    stamps = read_stamps(index_folder, manifest.commit)
    changed = None
    if settings[0] == manifest.walk_config() and _is_watched_unchanged(manifest.root, stamps, settings[0]):
        changed = _changed(manifest.root, stamps.files)
    return Comparison(index_folder, manifest, settings, stamps, changed, started_ns)


def _is_watched_unchanged(root: str, stamps: Stamps, walk: WalkConfig) -> bool:
    """Say whether all that a walk depends on is unchanged: folders, ignore files, and files that were left out."""
    rules = {path for path, _ in rule_files_above(Path(root))} if walk.ignore_files else set()
    watched = stamps.watched
    above = {path: watched[path] for path in watched if not is_folder(path) and os.path.isabs(path)}
    if not watched or not rules <= above.keys():  # The others are files of git.
        return False
    below = {path: watched[path] for path in watched.keys() - above} if above else watched
    return not (_changed(root, below) or _changed("", above) or _changed(root, stamps.passed))


def _changed(root: str, stamps: Mapping[str, Stamp]) -> dict[str, Stamp]:
    """Find the paths whose stamps changed: path -> stamp now."""
    start = os.path.join(root, "") if root else ""
    status_of = os.stat
    changed = {}
    for path, known in stamps.items():  # This loop is most of the time of a query's check.
        try:
            seen = status_of(start + path)
        except OSError:
            now = ABSENT
        else:
            now = seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_mode
            if now == known:
                continue
            now = stamp(seen)
        if now != known:
            changed[path] = now
    return changed


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the last walk of an indexed folder read; two are equal if they have the same folders and files.

    All paths are absolute. Of those `above` the root only the names matter: the folders on the way to it, and `.git`.
    """

    version: tuple[int, str] = field(compare=False)  # Identifies the commit of the index.
    documents: int = field(compare=False)
    content: str  # The kinds of files that are indexed, of `codesearch.config.CONTENT`.
    folders: frozenset[str]  # The folders that the walk entered.
    files: frozenset[str]  # Files with rules and settings in other folders; some may not exist.
    above: frozenset[str]


def dependencies(index_folder: Path, manifest: Manifest, home: Path) -> Dependencies | None:
    """Return what an index depends on; None if the stamps of its last commit are not there."""
    watched = read_stamps(index_folder, manifest.commit).watched
    if not watched:
        return None
    below, own = os.path.join(manifest.root, ""), os.path.join(home.resolve(), "")
    entered = (below + path for path in watched if is_folder(path))
    folders = frozenset(path for path in entered if not path.startswith(own))  # Each update writes there.
    files = {path if os.path.isabs(path) else below + path for path in watched if not is_folder(path)}
    files.add(str(user_file(os.environ, Path.home())))
    files |= set(map(os.path.realpath, files))  # A link to rules elsewhere.
    outside = frozenset(file for file in files if os.path.join(os.path.dirname(file), "") not in folders)
    way = (Path(manifest.root), *Path(manifest.root).parents)
    above = frozenset(str(path) for folder in way[1:] for path in (folder, folder / ".git")) | {str(way[0])}
    return Dependencies(
        version=(manifest.commit, manifest.created),
        documents=manifest.documents,
        content=manifest.walk_config().content,
        folders=folders,
        files=outside,
        above=above,
    )
