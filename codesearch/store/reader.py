"""An index folder -> its committed segments, checked and opened for queries.

`checked` in the index folder has the stamps (size, mtime_ns, ctime_ns, inode) of files whose sha256 was right when they
had these stamps. A file with another stamp is read once and its sha256 compared. So damage by a program, a copy or a
restored backup is noticed by the next query, and later queries only compare stamps. Damage below the file system, which
leaves the stamps as they are, is noticed by `codesearch doctor`. The file `checked` is disposable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import write_atomically
from codesearch.store.digest import check_digest
from codesearch.store.manifest import Manifest, SegmentEntry, read_manifest
from codesearch.store.segment import SegmentReader

FILE = "checked"
_Stamps = dict[str, list[int]]
"""Path in the index folder -> stamp."""


class IndexReader:
    """One open commit. It stays readable after later commits.

    Attributes:
        folder: the index folder.
        manifest: the manifest of the commit.
        segments: the open segments, in the order of the manifest.
    """

    def __init__(self, index_folder: Path, manifest: Manifest) -> None:
        self.folder = index_folder
        self.manifest = manifest
        self.segments: list[SegmentReader] = []
        try:
            for entry in manifest.segments:
                self.segments.append(
                    SegmentReader(
                        index_folder / entry.folder,
                        manifest.root,
                        documents=entry.documents,
                        dim=int(manifest.model["dim"]),
                        files=entry.files,
                        dead_files=entry.dead_files,
                        walk=manifest.walk_config(),
                    )
                )
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, index_folder: Path) -> IndexReader:
        """Open the current commit."""
        try:
            return cls._checked(index_folder)
        except IndexCorruptError:
            # Try again with the current manifest, because a writer may have committed and deleted the old files.
            return cls._checked(index_folder)

    @classmethod
    def _checked(cls, index_folder: Path) -> IndexReader:
        manifest = read_manifest(index_folder)
        check_intact(index_folder, manifest)
        return cls(index_folder, manifest)

    @property
    def root(self) -> Path:
        """The indexed folder."""
        return Path(self.manifest.root)

    def check(self) -> None:
        """Check that every file is still the one that was opened or an intact copy."""
        check_intact(self.folder, self.manifest)

    def close(self) -> None:
        """Close the databases."""
        for segment in self.segments:
            segment.close()


def check_intact(index_folder: Path, manifest: Manifest) -> None:
    """Check the sizes of all files of an index, and the bytes of those that were not checked since they changed."""
    known = _read(index_folder)
    seen: _Stamps = {}
    checked = False
    for segment in manifest.segments:
        for path, stamp in _stamps(index_folder, segment, manifest.root):
            seen[path] = stamp
            if known.get(path) != stamp:
                entry = segment.files[path.removeprefix(f"{segment.folder}/")]
                check_digest(index_folder / path, entry, manifest.root)
                checked = True
    if checked:
        with suppress(OSError):  # In a read-only home the next query checks again.
            _write(index_folder, seen)


def remember_written(index_folder: Path, manifest: Manifest, new: Iterable[SegmentEntry]) -> None:
    """Note the stamps of new segments, whose digests were computed from what was written."""
    known = _read(index_folder)
    named = tuple(f"{segment.folder}/" for segment in manifest.segments)
    stamps = {path: stamp for path, stamp in known.items() if path.startswith(named)}
    for segment in new:
        stamps.update(_stamps(index_folder, segment, manifest.root))
    with suppress(OSError):
        _write(index_folder, stamps)


def _stamps(index_folder: Path, segment: SegmentEntry, root: str) -> Iterable[tuple[str, list[int]]]:
    below = os.path.join(index_folder, "")
    for name, entry in segment.files.items():
        path = f"{segment.folder}/{name}"
        try:
            found = os.stat(below + path)
        except OSError as error:
            raise unreadable(index_folder / path, error, root) from None
        if found.st_size != entry["bytes"]:
            reason = f"{found.st_size} bytes, expected {entry['bytes']}"
            raise IndexCorruptError(index_folder / path, reason, root)
        yield path, [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]


def _read(index_folder: Path) -> _Stamps:
    try:
        found = json.loads((index_folder / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(index_folder: Path, stamps: _Stamps) -> None:
    write_atomically(index_folder / FILE, json.dumps(stamps).encode(), for_owner=True)
