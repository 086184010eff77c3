"""Is an index up to date? Every query, `index`, `watch` and `status` asks `compare`, which needs no walk.

An index is up to date if nothing that its last walk depends on has changed: the stamps of source files, of files that
were left out for a reason that can change, of folders and of ignore files; the places of ignore files above the root;
and the settings. This module imports fast, because most queries find nothing else to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from codesearch.build.stamps import Stamps, is_folder, read_stamps
from codesearch.config import IndexOptions, WalkConfig
from codesearch.files import ABSENT, Stamp, stamp
from codesearch.settings import index_options
from codesearch.store.manifest import MadeWith, Manifest
from codesearch.treefiles import rule_files_above


@dataclass(frozen=True, slots=True)
class Comparison:
    """A root compared with one commit of its index.

    Attributes:
        commit: the commit.
        stamps: its stamps.
        changed: source files whose stamps changed -> their stamps now; None if a walk is needed.
        started_ns: wall clock time before the first file was checked.
    """

    commit: int
    stamps: Stamps
    changed: Mapping[str, Stamp] | None
    started_ns: int

    @property
    def is_current(self) -> bool:
        """Say whether nothing changed."""
        return self.changed == {}


def walk_in_force(
    root: Path, made_with: MadeWith | None, given: IndexOptions
) -> tuple[WalkConfig, IndexOptions]:
    """Return the walk settings of an index now, and the part of them that options set.

    Options given now come first, then earlier ones, settings files, defaults.
    """
    options = given.over(IndexOptions.of(made_with.options)) if made_with else given
    return options.over(index_options(root)).over(WalkConfig()), options


def compare(index_folder: Path, manifest: Manifest, walk: WalkConfig | None = None) -> Comparison:
    """Compare a root with a commit of its index."""
    started_ns = time.time_ns()
    root = Path(manifest.root)
    walk = walk or walk_in_force(root, manifest, IndexOptions())[0]
    stamps = read_stamps(index_folder, manifest.commit)
    changed = None
    if walk == manifest.walk_config() and _is_watched_unchanged(manifest.root, stamps, walk):
        changed = _changed(manifest.root, stamps.files)
    return Comparison(manifest.commit, stamps, changed, started_ns)


def _is_watched_unchanged(root: str, stamps: Stamps, walk: WalkConfig) -> bool:
    """Say whether all that a walk depends on is unchanged: folders, ignore files, and files that were left out."""
    rules = {path for path, _ in rule_files_above(Path(root))} if walk.ignore_files else set()
    watched = stamps.watched
    above = {path: watched[path] for path in watched if not is_folder(path) and os.path.isabs(path)}
    if not watched or above.keys() != rules:
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
