"""Filters -> the documents that may be hits.

Filters apply before ranking, so a search for ten hits returns ten if ten documents pass. A glob is relative to the
indexed root, relative to the working directory, or absolute:

    *.py  tests      any part of a path, if there is no slash
    src/  src/*.py   relative to the root or to the working directory
    ./src  ../lib    relative to the working directory
    /work/src/*      absolute, or relative to the root

A glob that matches a folder also matches all files in it. `*` matches slashes too. On Windows, globs may contain
backslashes. Slashes replace them before the comparison.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import translate
from glob import escape, has_magic
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.search.request import Filters
from codesearch.store.segments import SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.types import KINDS


def path_filter(filters: Filters, root: Path) -> Callable[[str], bool]:
    """Return a function that says whether a path relative to the root passes the globs and places of the filters."""
    here = None if filters.here is None else slashes(str(filters.here))
    globs = [slashes(glob) for glob in filters.paths]
    included = [_Glob.compile(glob, here) for glob in globs if not glob.startswith("!")]
    excluded = [_Glob.compile(glob[1:], here) for glob in globs if glob.startswith("!")]
    places = _beginnings(filters.within)
    above = _beginning(str(root))

    def passes(path: str) -> bool:
        absolute = above + path
        if filters.files is not None and absolute not in filters.files:
            return False
        if places and not f"{absolute}/".startswith(places):
            return False
        if included and not any(glob.matches(path, absolute) for glob in included):
            return False
        return not any(glob.matches(path, absolute) for glob in excluded)

    return passes


def outside(places: Iterable[Path | str], root: Path) -> bool:
    """Say whether a root, or a part of it, is outside of some files and folders."""
    return not _beginning(str(root)).startswith(_beginnings(places))


def _beginnings(places: Iterable[Path | str]) -> tuple[str, ...]:
    """Return how the absolute paths of files below some places begin."""
    return tuple(
        _beginning(spelling)
        for place in places
        for spelling in (os.path.abspath(place), os.path.realpath(place))
    )


def _beginning(path: str) -> str:
    return f"{slashes(path).rstrip('/')}/"


def literal_prefix(glob: str) -> str:
    """Return what a path below the root must begin with to match a glob; "" if the glob does not say.

    >>> literal_prefix("src/api/*.py"), literal_prefix("*.py"), literal_prefix("tests/"), literal_prefix("./src/a.py")
    ('src/api/', '', '', '')
    """
    folder, slash, _ = glob.rstrip("/").rpartition("/")
    if not slash or glob.startswith(("/", ".", "*")) or has_magic(folder):
        return ""
    return f"{folder}/"


@dataclass(frozen=True, slots=True)
class _Glob:
    """A compiled glob: one pattern for "/" + the path below the root, one for the absolute path."""

    below_root: re.Pattern[str] | None
    absolute: re.Pattern[str] | None

    @classmethod
    def compile(cls, glob: str, here: str | None) -> _Glob:
        from_here = here is not None and glob.split("/")[0] in (".", "..")
        only_below = glob.endswith("/")
        rooted = glob.startswith("/") or os.path.isabs(glob)
        is_absolute = rooted or here is not None and (from_here or "/" in glob)
        return cls(
            None if from_here else _compile([_anchored(glob)], only_below=only_below),
            _compile(_absolute(glob, here or "/"), only_below=only_below) if is_absolute else None,
        )

    def matches(self, path: str, absolute: str) -> bool:
        if self.below_root and self.below_root.match(f"/{path}"):
            return True
        return bool(self.absolute and self.absolute.match(absolute))


def _compile(globs: Iterable[str], *, only_below: bool) -> re.Pattern[str]:
    """Compile globs to a pattern for files in matching folders and, unless `only_below`, for matching files."""
    patterns = [translate(f"{glob}/*") for glob in globs]
    if not only_below:
        patterns += [translate(glob) for glob in globs]
    return re.compile("|".join(patterns))


def _anchored(glob: str) -> str:
    """Return a glob for "/" + path below the root."""
    bare = glob.removeprefix("./").rstrip("/")
    if "/" not in glob:
        return f"*/{bare}"
    return bare if bare.startswith("*") else f"/{bare.lstrip('/')}"


def _absolute(glob: str, here: str) -> list[str]:
    """Return globs for absolute paths: as written, and with the links before the first wildcard resolved."""
    parts = slashes(os.path.join(escape(here), glob)).split("/")
    literal = list(takewhile(lambda part: not has_magic(part), parts))
    followed = "/".join([escape(os.path.realpath("/".join(literal) or "/")), *parts[len(literal) :]])
    spellings = (slashes(os.path.normpath(spelling)) for spelling in ("/".join(parts), followed))
    return list({spelling.rstrip("/"): None for spelling in spellings})


def slashes(path: str) -> str:
    """Replace the system's path separators by slashes."""
    return path if os.sep == "/" else path.replace(os.sep, "/")


def allowed_documents(filters: Filters, snapshot: Snapshot) -> NDArray[np.bool_] | None:
    """Return which documents pass: bool [size], or None if all pass.

    If one root lies inside another, the files in both are searched only in the inner one.
    """
    inner = inner_folders(snapshot.roots)
    if filters.within and not any(outside(filters.within, Path(root)) for root in snapshot.roots):
        filters = replace(filters, within=())  # A test of each file would cost milliseconds.
    if filters.allow_all and not any(inner.values()):
        return None
    parts = [_allowed(filters, segment, inner[segment.root]) for segment in snapshot.segments]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def _allowed(filters: Filters, segment: SegmentReader, inner: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which documents of a segment pass and are not in an inner root: bool [N]."""
    allowed = np.ones(len(segment), dtype=bool)
    if inner or filters.languages or filters.by_path:
        allowed = passing_files(filters, segment, inner)[segment.rows["file_id"]]
    if filters.kinds:
        allowed &= np.isin(segment.rows["kind"], [KINDS.index(kind) for kind in filters.kinds])
    return allowed


def passing_files(filters: Filters, segment: SegmentReader, inner: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which files of a segment pass, whatever kinds their documents have, and are not in an inner root."""
    files = np.ones(len(segment.files), dtype=bool)
    if filters.languages:
        files = np.isin([file.language for file in segment.files], filters.languages)
    if filters.by_path:
        passes = path_filter(filters, Path(segment.root))
        files &= np.fromiter((passes(file.path) for file in segment.files), dtype=bool, count=len(files))
    if inner:
        files &= np.array([not file.path.startswith(inner) for file in segment.files], dtype=bool)
    return files
