"""A portable file -> an index of a home.

Nothing in the file is trusted. The entries must be those of the manifest, with known names and their sizes, and every
byte is hashed and checked before the index is used.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError, IndexCorruptError, PortableFileError
from codesearch.files import make_folder, private, scratch_folder, sync_folder
from codesearch.portable.pack import HEAD, PATIENCE_S, PORTABLE_VERSION, OnStage
from codesearch.settings import imported_options, index_options
from codesearch.store.catalogue import imported_folder, index_folder, read_entry, writer_lock
from codesearch.store.database import storage_errors
from codesearch.store.digest import describe_files
from codesearch.store.manifest import FORMAT_VERSION, SEGMENTS, Manifest, commit_manifest, segment_folder
from codesearch.store.segments import last_number, writing
from codesearch.store.untrusted import (
    UntrustedError,
    check_file_names,
    check_segment,
    checked_manifest,
    is_name,
)
from codesearch.text.bundle import SHIPPED, load_bundle, recorded_folder

MAX_BYTES = 32_000_000_000
"""A portable file may unpack to this many bytes, those of some ten million documents."""
_MAX_HEAD_BYTES = 64_000_000
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, OverflowError, ValueError)
"""What `zipfile` and `json` raise for a damaged archive."""


def import_portable(
    file: Path, home: Path, *, root: Path | None, name: str | None, model: Path | None, on_progress: OnStage
) -> Manifest:
    """Make a portable file an index of a home; arguments and errors are those of `Engine.import_index`."""
    if root and not root.is_dir():
        raise ConfigError(f"{root}: no such folder", "give the folder of the sources")
    if name is not None and not is_name(name):
        raise ConfigError(f"the name {name!r} is not valid", "use letters, digits and `.`, `_`, `-`")
    with open_portable(file) as portable:
        bundle, made_with = model or SHIPPED, portable.manifest.model
        if load_bundle(bundle).model_id != made_with["id"]:
            needed = f"{made_with['name']} ({made_with['id']})"
            problem = f"{file} was made with model {needed}, not with that in {bundle}"
            raise ConfigError(problem, "give the folder of its model with --model")
        place = str(root.resolve()) if root else name or portable.manifest.root
        folder = index_folder(home, root) if root else imported_folder(home, place)
        described = {**made_with, "folder": recorded_folder(bundle)}
        manifest = replace(portable.manifest, root=place, model=described)
        if root:
            options = imported_options(Path(place), manifest.options)
            walk = options.over(index_options(Path(place))).over(WalkConfig())
            manifest = replace(manifest, options=options.given, settings=asdict(walk))
        return _add(portable, manifest, folder, home, on_progress)


def _add(
    portable: PortableFile, manifest: Manifest, folder: Path, home: Path, on_progress: OnStage
) -> Manifest:
    """Unpack a portable file to the folder of an index, whose manifest may name another root and is written last."""
    with storage_errors(home), scratch_folder(home) as scratch:
        portable.unpack(scratch, on_progress)
        with writer_lock(folder, manifest.root, wait_s=PATIENCE_S, makes=True), writing(folder):
            make_folder(folder / SEGMENTS)
            entry, segments = read_entry(folder), []
            last = entry.manifest.commit if entry and entry.manifest else 0
            for number, segment in enumerate(manifest.segments, last_number(folder) + 1):
                os.rename(scratch / segment.folder, folder / segment_folder(number))
                segments.append(replace(segment, number=number))
            sync_folder(folder / SEGMENTS)
            installed = replace(manifest, segments=segments, commit=max(last, manifest.commit) + 1)
            commit_manifest(folder, installed)
    return installed


@dataclass(frozen=True, slots=True)
class PortableFile:
    """An open portable file whose manifest and list of entries are checked."""

    path: Path
    manifest: Manifest
    archive: zipfile.ZipFile

    def unpack(self, folder: Path, on_progress: OnStage) -> None:
        """Write all segments to an empty folder, sync them to disk, and check everything in them."""
        done, total = 0, self.manifest.bytes
        with _one_line(self.path):
            for segment in self.manifest.segments:
                for name, entry in segment.files.items():
                    target = folder / segment.folder / name
                    make_folder(target.parent)
                    source = self.archive.open(f"{segment.folder}/{name}")
                    with source, open(target, "xb", opener=private) as file:
                        shutil.copyfileobj(source, file, 1 << 20)
                    done += entry["bytes"]
                    on_progress("unpacking", done, total)
                for name, described in describe_files(folder / segment.folder).items():
                    if described != segment.files[name]:
                        raise UntrustedError(f"the entry {name!r} has a wrong checksum")
                check_segment(folder / segment.folder, segment, int(self.manifest.model["dim"]))


@contextmanager
def open_portable(path: Path) -> Iterator[PortableFile]:
    """Open a portable file and check its manifest and its list of entries."""
    try:
        file = open(path, "rb")  # Closed below.
    except OSError as error:
        cure = "give a file that `codesearch export` wrote"
        raise PortableFileError(f"{path}: {error.strerror}", cure) from None
    with file:
        with _one_line(path):
            archive = zipfile.ZipFile(file)
            head = _read_head(archive)
            manifest = _manifest(path, head)
            _check_entries(archive, manifest)
            if manifest.bytes > MAX_BYTES:
                raise UntrustedError(f"it unpacks to more than {MAX_BYTES / 1e9:.0f} GB")
        yield PortableFile(path, manifest, archive)


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Turn what a damaged or unsafe file raises into an error with one line."""
    try:
        yield
        return
    except UntrustedError as error:
        problem = f"{path} is refused: {error}"
    except IndexCorruptError as error:
        problem = f"{path} is refused: {error.path.name} is not valid"
    except (*_BROKEN, OSError) as error:
        # A damaged archive names a place before the start of the file: EINVAL.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        reason = str(error).splitlines()[0] if str(error) else "it ends too early"
        problem = f"{path} is damaged or not a portable file ({reason})"
    raise PortableFileError(problem, "export it again")


def _read_head(archive: zipfile.ZipFile) -> bytes:
    entries = archive.infolist()
    for entry in entries:
        is_file = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG)
        if not is_file or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UntrustedError(f"the entry {entry.filename!r} is no file or has an unknown compression")
    if not entries or entries[0].filename != HEAD:
        raise UntrustedError(f"it does not begin with {HEAD}")
    if entries[0].file_size > _MAX_HEAD_BYTES:
        raise UntrustedError(f"{HEAD} is too large")
    with archive.open(HEAD) as file:
        return file.read(_MAX_HEAD_BYTES)  # A limit, because `zipfile` unpacks that much at once.


def _manifest(path: Path, head: bytes) -> Manifest:
    fields: Any = json.loads(head)
    if not isinstance(fields, dict) or not isinstance(fields.get("manifest"), dict):
        raise UntrustedError(f"{HEAD} has no manifest")
    for what, version, expected in (
        ("is a portable file of version", fields.get("portable"), PORTABLE_VERSION),
        ("has index format", fields["manifest"].get("format"), FORMAT_VERSION),
    ):
        if version != expected:
            cure = "use the same version of codesearch on both machines"
            raise PortableFileError(f"{path} {what} {version!r}, expected {expected}", cure)
    manifest = checked_manifest(fields["manifest"])
    for segment in manifest.segments:
        check_file_names(segment)
    return manifest


def _check_entries(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    """Check names and sizes; no more bytes of an entry than its size are unpacked."""
    expected = {
        f"{segment.folder}/{name}": int(file["bytes"])
        for segment in manifest.segments
        for name, file in segment.files.items()
    }
    entries = archive.infolist()[1:]
    names, known = Counter(entry.filename for entry in entries), Counter(expected.keys())
    if wrong := sorted((names - known) + (known - names)):
        raise UntrustedError(f"the entry {wrong[0]!r} is missing, occurs twice or is not in its manifest")
    for entry in entries:
        if entry.file_size != (size := expected[entry.filename]):
            raise UntrustedError(f"the entry {entry.filename!r} has {entry.file_size} bytes, expected {size}")
