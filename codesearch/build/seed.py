"""A new index -> the segments of a similar index in the same home.

The second work tree of a repository, a clone and a copy of a folder have mostly the same files as the first. Segments
never change, so hard links to their files make an index that takes no space. The update that follows compares the
content of every file and parses those that differ. Without a file system that has hard links, the files are copied.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from codesearch.build.stamps import FILE as STAMPS
from codesearch.build.stamps import read_stamps
from codesearch.errors import IndexStoreError
from codesearch.files import create_private, make_folder, stamp_of, sync_folder
from codesearch.git import work_tree
from codesearch.store.catalogue import list_indexes
from codesearch.store.digest import check_intact
from codesearch.store.manifest import SEGMENTS, Manifest, commit_manifest, segment_folder
from codesearch.store.segments import last_number, writing
from codesearch.treefiles import git_folders

_EXAMINED = 16
"""At most this many indexes are compared with the new folder."""
_SAMPLE = 200
"""This many files of an index are looked for in the new folder."""
_LEAST_SHARE = 0.5


def seed_index(root: Path, index_folder: Path, home: Path, digest: str) -> Manifest | None:
    """Make an incomplete index of a folder out of the most similar one, if that has half of its files; else None."""
    here = _repository(root)
    known = [
        (entry.folder, entry.manifest)
        for entry in list_indexes(home)
        if entry.manifest
        and entry.manifest.complete
        and entry.manifest.has_sources
        and entry.manifest.config_digest == digest
    ]
    known.sort(key=lambda index: index[1].created, reverse=True)
    known.sort(
        key=lambda index: (_repository(Path(index[1].root)) != here, Path(index[1].root).name != root.name)
    )
    shares = [(_share(folder, manifest, root), folder, manifest) for folder, manifest in known[:_EXAMINED]]
    share, folder, manifest = max(shares, key=lambda index: index[0], default=(0.0, index_folder, None))
    if manifest and share >= _LEAST_SHARE:
        with suppress(OSError, IndexStoreError):  # It is damaged, or another process removed it.
            return _linked(folder, manifest, root, index_folder)
    return None


def _repository(root: Path) -> str:
    """Return the git folder that all work trees of a repository share; "" if the folder is in no work tree."""
    top = work_tree(root)
    return os.path.realpath(git_folders(top)[1]) if top else ""


def _share(index_folder: Path, manifest: Manifest, root: Path) -> float:
    """Return the share of an index's files that a folder has with the same size, from a sample."""
    files = read_stamps(index_folder, manifest.commit).files
    sample = list(islice(files.items(), 0, None, max(1, len(files) // _SAMPLE)))
    same = sum(stamp_of(os.path.join(root, path))[0] == known[0] for path, known in sample)
    return same / max(1, len(sample))


def _linked(source: Path, manifest: Manifest, root: Path, index_folder: Path) -> Manifest:
    """Commit an index with the segments of another one."""
    with writing(index_folder):
        (index_folder / STAMPS).unlink(missing_ok=True)  # They may belong to an index that was removed.
        make_folder(index_folder / SEGMENTS)
        segments = []
        for number, old in enumerate(manifest.segments, last_number(index_folder) + 1):
            segments.append(replace(old, number=number))
            folder = index_folder / segment_folder(number)
            make_folder(folder)
            for name in old.files:
                make_folder((folder / name).parent)
                _link(source / old.folder / name, folder / name)
            sync_folder(folder)
        sync_folder(index_folder / SEGMENTS)
        seeded = replace(manifest, root=str(root.resolve()), commit=1, complete=False, segments=segments)
        check_intact(index_folder, seeded)
        commit_manifest(index_folder, seeded)
    return seeded


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # The file system has no hard links, or the file has too many.
        create_private(target)
        shutil.copyfile(source, target)
