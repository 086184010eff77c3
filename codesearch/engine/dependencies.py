"""An index -> the folders and files whose changes can change it. A watcher watches them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from codesearch.errors import IndexNotFoundError
from codesearch.index.catalogue import index_folder, read_entry
from codesearch.index.stamps import read_stamps


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What the last walk of an indexed folder read.

    Attributes:
        version: identifies the commit of the index.
        documents: in the index.
        content: the kinds of files that are indexed, of `codesearch.config.CONTENT`.
        folders: absolute paths of the folders that the walk entered.
        files: absolute paths of files with ignore rules in other folders; some may not exist.
    """

    version: tuple[int, str]
    documents: int
    content: str
    folders: frozenset[str]
    files: frozenset[str]


def dependencies(home: Path, root: Path) -> Dependencies | None:
    """Return what an index depends on; None if the stamps of its last commit are not there.

    Raises:
        IndexNotFoundError: the folder is not indexed.
        IndexStoreError: its index cannot be read.
    """
    entry = read_entry(index_folder(home, root))
    if entry is None:
        raise IndexNotFoundError(f"{root} is not indexed: run `codesearch index {root}`")
    if entry.manifest is None:
        raise entry.error or IndexNotFoundError(f"{entry.folder}: no index there")
    manifest = entry.manifest
    watched = read_stamps(entry.folder, manifest.commit).watched
    if not watched:
        return None
    below, own = os.path.join(manifest.root, ""), os.path.join(home.resolve(), "")
    entered = (below + path for path in watched if not path or path.endswith("/"))
    folders = frozenset(path for path in entered if not path.startswith(own))  # Each update writes there.
    files = (path if os.path.isabs(path) else below + path for path in watched if not path.endswith("/"))
    outside = frozenset(file for file in files if os.path.join(os.path.dirname(file), "") not in folders)
    return Dependencies(
        version=(manifest.commit, manifest.created),
        documents=manifest.documents,
        content=manifest.walk_config().content,
        folders=folders,
        files=outside,
    )
