"""A scope -> the indexes of a home that a search covers, and the projects that the first search there may index."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from pathlib import Path

from codesearch.config import IndexOptions, WalkConfig
from codesearch.errors import (
    ConfigError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStoreError,
    index_command,
)
from codesearch.files import expanded
from codesearch.search.request import keep_tuples
from codesearch.store.catalogue import (
    Building,
    IndexEntry,
    building_around,
    building_in,
    find_folder,
    index_folder,
    is_revision,
    list_building,
    list_indexes,
    read_entry,
)

_FIRST_PART_S, _POLL_S = 5.0, 0.05
"""How long a question waits for the first part of an index that another process makes, and between two looks."""
_LISTED = 5
"""Roots that an error lists."""
MAX_FILES, MAX_BYTES = 50_000, 500_000_000
"""A project with more source files, or more bytes in them, is indexed only when the user asks."""
_PROJECT_FILES = frozenset(
    "CMakeLists.txt Cargo.toml Gemfile Makefile Package.swift build.gradle build.gradle.kts build.sbt composer.json "
    "go.mod meson.build package.json pom.xml pyproject.toml setup.py".split()
)
_PROJECT_SUFFIXES = (".sln", ".csproj", ".gemspec", ".rockspec")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search.

    The first of `roots`, `folders`, `group`, `everything`, `within` and `here` that is set chooses indexes.
    Without any of them, all indexes are searched.
    """

    roots: Sequence[Path | str] = ()  # Indexed folders, or names of imported indexes.
    here: Path | str | None = None  # A folder; the innermost index that covers it is searched.
    everything: bool = False  # Search all indexes.
    # Files or folders; the innermost indexes that cover them are searched. Hits come only from these files and
    # folders, also if another attribute chooses the indexes.
    within: Sequence[Path | str] = ()
    at: str = ""  # A git revision of the one folder that the others name; "" for the files as they are.
    group: str = ""  # The name of a group in the user's settings, which stands for its `folders`.
    # The innermost indexes that cover these folders are searched, and hits come only from these folders. A folder
    # that cannot be searched does not concern the others.
    folders: Sequence[Path | str] = ()

    def __post_init__(self) -> None:
        keep_tuples(self, "roots", "within", "folders")

    def all_folders(self) -> tuple[Path, ...]:
        """Return the folders; those of the group if none are given.

        Raises:
            ConfigError: there is no such group, or the settings are wrong.
        """
        if not self.group or self.folders:
            return tuple(expanded(folder).absolute() for folder in self.folders)
        from codesearch.settings import group_folders

        return group_folders(self.group)

    def places(self) -> Sequence[Path | str]:
        """Return the files and folders that hits must be in; none if they may be anywhere."""
        return self.within or self.all_folders()


def choose_indexes(home: Path, scope: Scope) -> list[IndexEntry]:
    """Return the indexes of a scope, each once, if all can be read."""
    chosen = find_indexes(home, scope)
    for entry in chosen:
        if entry.manifest is None:
            raise entry.error or missing_error(home, scope, entry.folder)
    return chosen


def find_indexes(home: Path, scope: Scope) -> list[IndexEntry]:
    """Return the indexes of a scope, each once; also those that are missing or cannot be read."""
    if scope.roots:
        near = None if scope.here is None else Path(scope.here)
        chosen = []
        for root in map(expanded, scope.roots):
            folder = find_folder(home, root, near)
            entry = read_entry(folder) or _begun(
                root, partial(building_in, folder), partial(read_entry, folder)
            )
            if entry is None:
                raise not_indexed(root)
            chosen.append(entry)
    else:
        here = () if scope.here is None else (scope.here,)
        given = scope.all_folders() or (() if scope.everything else scope.within or here)
        places = map(Path, given)
        chosen = [
            covering_index(home, place)
            or _begun(place, partial(building_around, home, place), partial(covering_index, home, place))
            or IndexEntry(place, None)
            for place in places
        ]
        chosen = chosen or _all(home)
        if not chosen:
            raise _nothing_indexed(home)
    return list({entry.folder: entry for entry in chosen}.values())


def _begun(
    place: Path, look: Callable[[], Building | None], read: Callable[[], IndexEntry | None]
) -> IndexEntry | None:
    """Return the first index that a process makes for a place, as soon as a part of it can be searched."""
    until = time.monotonic() + _FIRST_PART_S
    while building := look():
        if entry := read():
            return entry
        if time.monotonic() > until:
            return IndexEntry(place, None, building.error)
        time.sleep(_POLL_S)
    return read()


def to_index(scope: Scope, entry: IndexEntry) -> Path | None:
    """Return what to index before an index of a scope can be searched, or None.

    That is the project around a place, a folder of a group, or the root of an index that an earlier version made.
    """
    if isinstance(entry.error, IndexFormatError) and entry.error.is_older:
        root = Path(entry.error.root)
        return root if root.is_absolute() and root.is_dir() else None
    place = entry.folder
    if not entry.is_missing:
        return None
    if not scope.all_folders():
        return find_project(_folder(place))
    return place if place.is_dir() and place.resolve() not in never_projects(place) else None


def missing_error(home: Path, scope: Scope, place: Path) -> IndexStoreError:
    """Return the error for a place of a scope that no index covers."""
    if scope.all_folders():
        gone = IndexNotFoundError("not a folder", "correct the group", about=place)
        return not_indexed(place) if place.is_dir() else gone
    entries = _all(home)
    if not entries:
        return _nothing_indexed(home)
    roots = [entry.root for entry in entries if entry.manifest]
    more = f" and {len(roots) - _LISTED} more" if len(roots) > _LISTED else ""
    indexed = f" (indexed: {', '.join(roots[:_LISTED])}{more})" if roots else ""
    folder = "FOLDER`" if place.resolve() in never_projects(place) else ".` there"
    return IndexNotFoundError(
        f"no index covers {_folder(place)}",
        f"run `codesearch index {folder}, or search other folders with --all or --root DIR{indexed}",
    )


def not_indexed(folder: Path) -> IndexNotFoundError:
    """Return the error for a folder without an index; the index of another machine has a name in its place."""
    if not os.path.isdir(folder):  # Also if its name is too long.
        return IndexNotFoundError("no folder and no imported index", "see `codesearch status`", about=folder)
    return IndexNotFoundError("not indexed", f"run {index_command(folder)}", about=folder)


def covering_index(home: Path, path: Path) -> IndexEntry | None:
    """Return the innermost index that covers a path, or None; a damaged index counts too.

    An index does not cover a project that its walk leaves out, such as a linked work tree in a hidden folder.
    """
    resolved = path.resolve()
    inner: Path | None = None
    for root in (resolved, *resolved.parents):
        if entry := read_entry(index_folder(home, root)):
            manifest = entry.manifest
            is_apart = inner and manifest and _is_left_out(root, inner, manifest.walk_config())
            return None if is_apart else entry
        if inner is None and _is_project(root):
            inner = root
    return None


def _folder(place: Path) -> Path:
    return place if os.path.isdir(place) else place.parent


def _all(home: Path) -> list[IndexEntry]:
    """Return the indexes of a home without those of git revisions."""
    return [entry for entry in list_indexes(home) if not is_revision(home, entry.root)]


def _nothing_indexed(home: Path) -> IndexStoreError:
    if begun := list_building(home):
        return next(iter(begun.values())).error
    return IndexNotFoundError(f"nothing is indexed in {home}", "run `codesearch index FOLDER` first")


def find_project(here: Path) -> Path | None:
    """Return the nearest git work tree around a folder, else the nearest folder with a project file, else None.

    In a folder that the work tree ignores, a folder with a project file is a project.
    """
    folder = here.resolve()
    excluded = never_projects(folder)
    folders = list(takewhile(lambda path: path not in excluded, (folder, *folder.parents)))
    top = next((path for path in folders if os.path.exists(path / ".git")), None)
    own = next(
        (path for path in takewhile(lambda path: path != top, folders) if _has_project_file(path)), None
    )
    if top and own:
        from codesearch.build.stamps import walk_in_force

        return own if _is_left_out(top, own, walk_in_force(top, None, IndexOptions())[0]) else top
    return top or own


def _is_left_out(root: Path, folder: Path, walk: WalkConfig) -> bool:
    from codesearch.parsing.walker import why_left_out

    try:
        return bool(why_left_out(root, folder, walk))
    except ConfigError:  # The root cannot be read.
        return False


def never_projects(folder: Path) -> set[Path]:
    """Return the folders that are not indexed unless the user names them: home, those above it, and the root."""
    user_home = expanded("~").resolve()
    return {user_home, *user_home.parents, Path(folder.resolve().anchor)}


def too_large(project: Path) -> str | None:
    """Return why a project is too large to be indexed unless the user asks, or None; counting stops at the limit."""
    from codesearch.parsing.walker import WalkSummary, walk

    size = 0
    for count, file in enumerate(walk(project, WalkConfig(), WalkSummary()), start=1):
        size += file.size
        if count > MAX_FILES:
            return f"has more than {MAX_FILES:,} source files"
        if size > MAX_BYTES:
            return f"has more than {MAX_BYTES // 1_000_000:,} MB of source files"
    return None


def _is_project(folder: Path) -> bool:
    from codesearch.git import is_top

    return is_top(str(folder)) or _has_project_file(folder)


def _has_project_file(folder: Path) -> bool:
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(name in _PROJECT_FILES or name.endswith(_PROJECT_SUFFIXES) for name in names)
