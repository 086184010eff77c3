"""What is in an indexed folder, also text that the index does not list, such as a README.

That is what `index --content all` would add: nothing that is ignored, hidden or secret.
"""

from __future__ import annotations

import os
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from codesearch.languages import language_of_path
from codesearch.parsing.decoding import decoded
from codesearch.parsing.walker import why_left_out
from codesearch.search.lookup import live_paths
from codesearch.store.segments import IndexReader
from codesearch.store.source import is_inside
from codesearch.structure.whole import FileView
from codesearch.treefiles import read_below


def unlisted_file(index: IndexReader, path: str) -> FileView | None:
    """Return a text file; None if a walk does not come to it."""
    spec, walk = language_of_path(path, "all"), index.manifest.walk_config()
    if spec and index.manifest.has_sources and is_inside(path):
        with suppress(OSError):  # It is no file, or a symbolic link is on the way.
            source = decoded(read_below(index.root, path, walk)[0], path).decode("utf-8", "replace")
            if not why_left_out(index.root, index.root / path, walk):
                return FileView(str(index.root), path, spec.name, source, ())
    return None


def _unlisted_entries(
    index: IndexReader, folder: str, listed: AbstractSet[str]
) -> tuple[list[str], list[str]]:
    """Return the names of further folders and text files in a folder that a walk comes to."""
    root, walk = index.root, index.manifest.walk_config()
    place = os.path.join(os.path.realpath(root), folder).rstrip(os.sep)
    is_below = (not folder or is_inside(folder)) and os.path.realpath(place) == place
    if not (index.manifest.has_sources and is_below):
        return [], []
    folders, files = list[str](), list[str]()
    with suppress(OSError):
        for entry in os.scandir(place):
            if entry.name in listed:
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            is_text = entry.is_file(follow_symlinks=False) and language_of_path(entry.name, "all")
            if (is_folder or is_text) and not why_left_out(root, Path(root, folder, entry.name), walk):
                (folders if is_folder else files).append(entry.name)
    return folders, files


def list_folder(index: IndexReader, path: str) -> dict[str, list[str]]:
    """Return the names of folders and files in a folder."""
    path = path.rstrip("/")
    start = f"{path}/" if path else ""
    parts = [of_file.removeprefix(start).partition("/") for of_file, *_ in live_paths(index, path)]
    listed = [{name for name, slash, _ in parts if bool(slash) == is_in} for is_in in (True, False)]
    more = _unlisted_entries(index, path, set().union(*listed))
    folders, files = (names.union(others) for names, others in zip(listed, more, strict=True))
    return {"folders": sorted(folders), "files": sorted(files)}
