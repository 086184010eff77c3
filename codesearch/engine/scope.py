"""Which indexes of a home a search covers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import IndexNotFoundError
from codesearch.index.catalogue import IndexEntry, index_folder, list_indexes, read_entry


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search: in `roots`; else in the index that holds the folder `here`; else in all indexes of the home.

    Attributes:
        roots: indexed folders.
        here: a folder; without roots, the innermost index that holds it is searched, or all where none does.
    """

    roots: tuple[Path | str, ...] = ()
    here: Path | str | None = None


def choose_indexes(home: Path, scope: Scope) -> list[IndexEntry]:
    """Return the indexes of a scope.

    Raises:
        IndexNotFoundError: nothing is indexed, or not what was named.
        IndexStoreError: a chosen index cannot be read.
    """
    if scope.roots:
        chosen = [_named(home, Path(root)) for root in scope.roots]
    else:
        entries = list_indexes(home)
        if not entries:
            raise IndexNotFoundError(f"nothing is indexed in {home}: run `codesearch index FOLDER` first")
        chosen = _holding(home, entries, Path(scope.here) if scope.here else None) or entries
    for entry in chosen:
        if entry.error:
            raise entry.error
    return chosen


def _holding(home: Path, entries: list[IndexEntry], here: Path | None) -> list[IndexEntry]:
    """Return the innermost index that holds a folder; also a damaged one, which its folder's name identifies."""
    if here is None:
        return []
    by_folder = {entry.folder: entry for entry in entries}
    resolved = here.resolve()
    found = (by_folder.get(index_folder(home, root)) for root in (resolved, *resolved.parents))
    return [entry for entry in found if entry][:1]


def _named(home: Path, root: Path) -> IndexEntry:
    entry = read_entry(index_folder(home, root))
    if entry is None:
        raise IndexNotFoundError(f"{root} is not indexed: run `codesearch index {root}` first")
    return entry
