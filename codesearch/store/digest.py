"""Digests of source files and of the files of an index, and checks for damage.

`checked` in the index folder has the stamps (size, mtime_ns, ctime_ns, inode) of files whose sha256 was right when they
had these stamps. A file with another stamp is read once and its sha256 compared. So damage by a program, a copy or a
restored backup is noticed by the next query, and later queries only compare stamps. Damage below the file system, which
leaves the stamps as they are, is noticed by `codesearch doctor`. The file `checked` is disposable.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import sync_folder, write_atomically
from codesearch.store.manifest import Manifest, SegmentEntry

FILE = "checked"
_BYTES = 16
_Stamps = dict[str, list[int]]
"""Path in the index folder -> stamp."""


def content_digest(source: bytes) -> bytes:
    """Hash a file's bytes."""
    return hashlib.blake2b(source, digest_size=_BYTES).digest()


def describe_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Sync a folder with every file below it, and its own name, to disk; return the size and sha256 of the files."""
    described = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with open(path, "r+b") as file:  # Windows syncs only files that are open for writing.
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            described[path.relative_to(folder).as_posix()] = {"bytes": path.stat().st_size, "sha256": digest}
    for inner in {folder.parent, folder, *(path.parent for path in folder.rglob("*"))}:
        sync_folder(inner)
    return described


def check_sizes(index_folder: Path, segment: SegmentEntry, root: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the path in the index folder and the stamp of each file of a segment; each must have its recorded size."""
    folder = segment.folder
    below = os.path.join(index_folder, folder, "")
    for name, entry in segment.files.items():
        try:
            status = os.stat(below + name)
        except OSError as error:
            raise unreadable(Path(below, name), error, root) from None
        if status.st_size != entry["bytes"]:
            reason = f"{status.st_size} bytes, expected {entry['bytes']}"
            raise IndexCorruptError(Path(below, name), reason, root)
        yield f"{folder}/{name}", [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def check_digest(path: Path, entry: Mapping[str, Any], root: str) -> None:
    """Check one file's bytes."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise  # A writer may just have merged and deleted the segment.
    except OSError as error:
        raise unreadable(path, error, root) from None
    if digest != entry["sha256"]:
        raise IndexCorruptError(path, "its bytes were changed", root)


def check_intact(index_folder: Path, manifest: Manifest, *, is_thorough: bool = False) -> None:
    """Check the sizes of all files of an index, and the bytes of those that were not checked since they changed.

    With `is_thorough`, as for `doctor`, check the bytes of all.
    """
    known = _read(index_folder)
    seen: _Stamps = {}
    checked = False
    for segment in manifest.segments:
        for path, stamp in check_sizes(index_folder, segment, manifest.root):
            seen[path] = stamp
            if is_thorough or known.get(path) != stamp:
                entry = segment.files[path.removeprefix(f"{segment.folder}/")]
                check_digest(index_folder / path, entry, manifest.root)
                checked = not is_thorough
    if checked:
        _write(index_folder, seen)


def remember_written(index_folder: Path, manifest: Manifest, new: Iterable[SegmentEntry]) -> None:
    """Note the stamps of new segments, whose digests were computed from what was written."""
    known = _read(index_folder)
    named = tuple(f"{segment.folder}/" for segment in manifest.segments)
    stamps = {path: stamp for path, stamp in known.items() if path.startswith(named)}
    for segment in new:
        stamps.update(check_sizes(index_folder, segment, manifest.root))
    _write(index_folder, stamps)


def _read(index_folder: Path) -> _Stamps:
    try:
        stamps = json.loads((index_folder / FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return stamps if isinstance(stamps, dict) else {}


def _write(index_folder: Path, stamps: _Stamps) -> None:
    with suppress(OSError):  # In a read-only home the next query checks again.
        write_atomically(index_folder / FILE, json.dumps(stamps).encode(), for_owner=True)
