"""A scope -> the indexes of a home that a search covers."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import IndexFormatError, IndexNotFoundError
from codesearch.index.catalogue import IndexEntry, find_folder, index_folder, list_indexes, read_entry

_LISTED = 5
"""Roots that an error lists."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search. The first of `files`, `roots`, `everything`, `within` and `here` that is set chooses indexes.

    Without any of them, all indexes are searched.

    Attributes:
        roots: indexed folders, or names of imported indexes.
        here: a folder; the innermost index that covers it is searched.
        everything: search all indexes.
        within: files or folders; the innermost indexes that cover them are searched. Hits come only from these files
            and folders, also if another attribute chooses the indexes.
        files: portable files, which are searched without an import.
    """

    roots: tuple[Path | str, ...] = ()
    here: Path | str | None = None
    everything: bool = False
    within: tuple[Path | str, ...] = ()
    files: tuple[Path | str, ...] = ()


def choose_indexes(home: Path, scope: Scope) -> list[IndexEntry]:
    """Return the indexes of a scope, each once.

    Raises:
        IndexNotFoundError: nothing is indexed, or no index has what the scope names.
        IndexStoreError: a chosen index cannot be read.
    """
    chosen = find_indexes(home, scope)
    for entry in chosen:
        if entry.error:
            raise entry.error
    return chosen


def outdated_roots(home: Path, scope: Scope) -> list[Path]:
    """Return the folders of a scope whose indexes an earlier version made.

    Raises:
        IndexNotFoundError: nothing is indexed, or no index has what the scope names.
    """
    errors = [entry.error for entry in find_indexes(home, scope)]
    roots = [Path(error.root) for error in errors if isinstance(error, IndexFormatError) and error.is_older]
    return [root for root in roots if root.is_absolute() and root.is_dir()]


def find_indexes(home: Path, scope: Scope) -> list[IndexEntry]:
    """Return the indexes of a scope, each once, including those that cannot be read."""
    if scope.files:
        from codesearch.engine.imported import portable_entry

        chosen = [portable_entry(Path(file).expanduser(), home) for file in scope.files]
    elif scope.roots:
        chosen = [_named(home, Path(root).expanduser(), scope) for root in scope.roots]
    else:
        chosen = [_covering(home, place) for place in _places(scope)] or _all(home)
    return list({entry.folder: entry for entry in chosen}.values())


def covering_index(home: Path, path: Path) -> IndexEntry | None:
    """Return the innermost index that covers a path, or None.

    A damaged index counts too: the name of its folder identifies it.
    """
    resolved = path.resolve()
    found = (read_entry(index_folder(home, root)) for root in (resolved, *resolved.parents))
    return next((entry for entry in found if entry), None)


def uncovered_folders(home: Path, scope: Scope) -> list[Path]:
    """Return the folders of a scope that no index covers; none if the scope names indexes or asks for all."""
    places = [] if scope.roots or scope.files else _places(scope)
    return [_folder(place) for place in places if not covering_index(home, place)]


def _places(scope: Scope) -> list[Path]:
    """Return the places whose indexes are searched; none if all indexes are."""
    if scope.everything:
        return []
    if scope.within:
        return [Path(place) for place in scope.within]
    return [] if scope.here is None else [Path(scope.here)]


def _folder(place: Path) -> Path:
    return place if os.path.isdir(place) else place.parent


def _all(home: Path) -> list[IndexEntry]:
    entries = list_indexes(home)
    if not entries:
        raise IndexNotFoundError(f"nothing is indexed in {home}: run `codesearch index FOLDER` first")
    return entries


def _covering(home: Path, place: Path) -> IndexEntry:
    if entry := covering_index(home, place):
        return entry
    roots = [entry.manifest.root for entry in _all(home) if entry.manifest]
    more = f" and {len(roots) - _LISTED} more" if len(roots) > _LISTED else ""
    indexed = f" (indexed: {', '.join(roots[:_LISTED])}{more})" if roots else ""
    raise IndexNotFoundError(
        f"no index covers {_folder(place)}: run `codesearch index .` there, or search other folders with --all or "
        f"--root DIR{indexed}"
    )


def _named(home: Path, root: Path, scope: Scope) -> IndexEntry:
    entry = read_entry(find_folder(home, root, None if scope.here is None else Path(scope.here)))
    if entry is None:
        raise IndexNotFoundError(f"{root} is not indexed: run `codesearch index {root}` first")
    return entry
