"""A portable file -> an index of a home, or a folder of a cache that is searched without an import.

Nothing in the file is trusted. Every entry must be in the manifest, with a known name, and every byte is counted and
hashed while it is read. The folder of the index gets no file under another name.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError, IndexCorruptError, PortableFileError
from codesearch.files import make_folder, private, sync_folder
from codesearch.portable.pack import HEAD, PATIENCE_S, PORTABLE_VERSION, storage_errors
from codesearch.portable.targets import OnStage, scratch_folder
from codesearch.settings import imported_options, index_options
from codesearch.store.catalogue import IndexEntry, imported_folder, index_folder, read_entry, writer_lock
from codesearch.store.digest import check_sizes
from codesearch.store.manifest import FORMAT_VERSION, SEGMENTS, Manifest, segment_folder
from codesearch.store.publish import commit_manifest, last_number, writing
from codesearch.store.untrusted import (
    UntrustedError,
    check_file_names,
    check_segment,
    checked_manifest,
    is_name,
)
from codesearch.text.bundle import SHIPPED, load_bundle, recorded_folder

MAX_BYTES = 8_000_000_000
"""A portable file may unpack to this many bytes, unless the caller allows more."""
_CACHE = Path("cache", "portable")
_KEPT = 4
"""This many unpacked files stay in the cache, those used last."""
_MAX_HEAD_BYTES = 64_000_000
_CHUNK = 1 << 20
_ENCRYPTED = 1
_PLAIN = (0, stat.S_IFREG)
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    ValueError,
)
"""What `zipfile` raises for a damaged archive."""


def import_portable(
    file: Path,
    home: Path,
    *,
    root: Path | None,
    name: str | None,
    model: Path | None,
    max_bytes: int,
    on_progress: OnStage,
) -> Manifest:
    """Make a portable file an index of a home; arguments and errors are those of `Engine.import_index`."""
    if root and not root.is_dir():
        raise ConfigError(f"{root}: no such folder", "give the folder of the sources")
    if name is not None and not is_name(name):
        raise ConfigError(f"the name {name!r} is not valid", "use letters, digits and `.`, `_`, `-`")
    with open_portable(file, max_bytes=max_bytes) as portable:
        bundle, made_with = model or SHIPPED, portable.manifest.model
        if load_bundle(bundle).model_id != made_with["id"]:
            raise ConfigError(
                f"{file} was made with model {made_with['name']} ({made_with['id']}), not with that in {bundle}",
                "give the folder of its model with --model",
            )
        place = str(root.resolve()) if root else name or portable.manifest.root
        folder = index_folder(home, root) if root else imported_folder(home, place)
        described = {**made_with, "folder": recorded_folder(bundle)}
        manifest = replace(portable.manifest, root=place, model=described)
        if root:
            options = imported_options(Path(place), manifest.options)
            walk = options.over(index_options(Path(place))).over(WalkConfig())
            manifest = replace(manifest, options=options.given, settings=asdict(walk))
        return _add(portable, manifest, folder, home, on_progress)


def portable_entry(file: Path, home: Path) -> IndexEntry:
    """Return the index in a portable file, which goes to a cache, or an entry that says why it cannot be read."""
    try:
        with open_portable(file) as portable:
            folder = home / _CACHE / portable.digest
            if not _is_whole(folder):
                _add(portable, portable.manifest, folder, home)
                unpacked = sorted(folder.parent.iterdir(), key=_used, reverse=True)
                for old in [path for path in unpacked if path != folder][_KEPT - 1 :]:
                    shutil.rmtree(old, ignore_errors=True)
            with storage_errors(home):
                os.utime(folder)  # The cache keeps what was used last.
    except PortableFileError as error:
        return IndexEntry(file, None, error)
    return read_entry(folder) or IndexEntry(folder, None)


def _add(
    portable: PortableFile,
    manifest: Manifest,
    folder: Path,
    home: Path,
    on_progress: OnStage = lambda stage, done, total: None,
) -> Manifest:
    """Unpack a portable file to the folder of an index, with a manifest that may name another root."""
    with storage_errors(home), scratch_folder(home) as scratch:
        portable.unpack(scratch, on_progress)
        make_folder(folder)
        with writer_lock(folder, manifest.root, wait_s=PATIENCE_S):
            return _install(scratch, folder, manifest)


def _install(scratch: Path, folder: Path, manifest: Manifest) -> Manifest:
    """Move unpacked segments to an index and commit them; the manifest is written last."""
    entry = read_entry(folder)
    last = entry.manifest.commit if entry and entry.manifest else 0
    with writing(folder):
        make_folder(folder / SEGMENTS)
        number = last_number(folder)
        segments = []
        for segment in manifest.segments:
            number += 1
            os.rename(scratch / segment.folder, folder / segment_folder(number))
            segments.append(replace(segment, number=number))
        sync_folder(folder / SEGMENTS)
        installed = replace(manifest, segments=segments, commit=max(last, manifest.commit) + 1)
        commit_manifest(folder, installed)
    return installed


def _is_whole(folder: Path) -> bool:
    """Say whether a folder has a manifest and all files in their recorded sizes."""
    entry = read_entry(folder)
    if entry is None or entry.manifest is None:
        return False
    try:
        for segment in entry.manifest.segments:
            list(check_sizes(folder, segment, entry.root))
    except IndexCorruptError:
        return False
    return True


def _used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


@dataclass(frozen=True, slots=True)
class PortableFile:
    """An open portable file whose manifest and list of entries are checked.

    Attributes:
        path: the file.
        manifest: its manifest; the root is only a name.
        digest: sha256 of the manifest, which has the sha256 of every file.
    """

    path: Path
    manifest: Manifest
    digest: str
    archive: zipfile.ZipFile

    def unpack(self, folder: Path, on_progress: OnStage = lambda stage, done, total: None) -> None:
        """Write all segments to an empty folder, sync them to disk, and check everything in them."""
        done, total = 0, self.manifest.bytes
        with _one_line(self.path):
            for segment in self.manifest.segments:
                for name, entry in segment.files.items():
                    target = folder / segment.folder / name
                    make_folder(target.parent)
                    _unpack_entry(self.archive, f"{segment.folder}/{name}", target, entry)
                    done += entry["bytes"]
                    on_progress("unpacking", done, total)
                check_segment(folder / segment.folder, segment, int(self.manifest.model["dim"]))


@contextmanager
def open_portable(path: Path, *, max_bytes: int = MAX_BYTES) -> Iterator[PortableFile]:
    """Open a portable file and check its manifest and its list of entries."""
    try:
        file = open(path, "rb")  # Closed below.
    except OSError as error:
        raise PortableFileError(
            f"{path}: {error.strerror}", "give a file that `codesearch export` wrote"
        ) from None
    with file:
        with _one_line(path):
            archive = zipfile.ZipFile(file)
            head = _read_head(archive)
            manifest = _manifest(path, head)
            _check_entries(archive, manifest)
            if manifest.bytes > max_bytes:
                raise PortableFileError(
                    f"{path} unpacks to {manifest.bytes / 1e9:.1f} GB, more than {max_bytes / 1e9:.1f} GB",
                    "if you trust it, import it with a higher --max-gb",
                )
        yield PortableFile(path, manifest, hashlib.sha256(head).hexdigest(), archive)


@contextmanager
def _one_line(path: Path) -> Iterator[None]:
    """Turn what a damaged or unsafe file raises into an error with one line."""
    try:
        yield
    except UntrustedError as error:
        raise PortableFileError(f"{path} is refused: {error}", "export it again") from None
    except IndexCorruptError as error:
        raise PortableFileError(
            f"{path} is refused: {error.path.name} is not valid", "export it again"
        ) from None
    except (*_BROKEN, OSError) as error:
        # A damaged archive names a place before the start of the file: EINVAL.
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        reason = str(error).splitlines()[0] if str(error) else "it ends too early"
        raise PortableFileError(
            f"{path} is damaged or not a portable file ({reason})", "export it again"
        ) from None


def _read_head(archive: zipfile.ZipFile) -> bytes:
    entries = archive.infolist()
    if not entries or entries[0].filename != HEAD:
        raise UntrustedError(f"it does not begin with {HEAD}")
    _check_entry(entries[0], entries[0].file_size)
    if entries[0].file_size > _MAX_HEAD_BYTES:
        raise UntrustedError(f"{HEAD} is too large")
    with archive.open(entries[0]) as file:
        return file.read(_MAX_HEAD_BYTES)


def _manifest(path: Path, head: bytes) -> Manifest:
    try:
        fields: Any = json.loads(head)
    except RecursionError:
        raise UntrustedError(f"{HEAD} is nested too deeply") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("manifest"), dict):
        raise UntrustedError(f"{HEAD} has no manifest")
    version, found = fields.get("portable"), fields["manifest"].get("format")
    if version != PORTABLE_VERSION:
        raise PortableFileError(
            f"{path} is a portable file of version {version!r}, expected {PORTABLE_VERSION}",
            "use the same version of codesearch on both machines",
        )
    if found != FORMAT_VERSION:
        raise PortableFileError(
            f"{path} has index format {found!r}, expected {FORMAT_VERSION}",
            "use the same version of codesearch on both machines",
        )
    manifest = checked_manifest(fields["manifest"])
    for segment in manifest.segments:
        check_file_names(segment)
    return manifest


def _check_entries(archive: zipfile.ZipFile, manifest: Manifest) -> None:
    expected = {
        f"{segment.folder}/{name}": int(file["bytes"])
        for segment in manifest.segments
        for name, file in segment.files.items()
    }
    seen = {HEAD}
    for entry in archive.infolist()[1:]:
        name = entry.filename
        if name in seen:
            raise UntrustedError(f"the entry {name!r} occurs twice")
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            raise UntrustedError(f"the entry {name!r} leaves the folder")
        if name not in expected:
            raise UntrustedError(f"the entry {name!r} is not in its manifest")
        _check_entry(entry, expected[name])
        seen.add(name)
    if missing := sorted(expected.keys() - seen):
        raise UntrustedError(f"the entry {missing[0]!r} is missing")


def _check_entry(entry: zipfile.ZipInfo, size: int) -> None:
    if stat.S_IFMT(entry.external_attr >> 16) not in _PLAIN or entry.is_dir():
        raise UntrustedError(f"the entry {entry.filename!r} is a link, a folder or a device")
    if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UntrustedError(f"the entry {entry.filename!r} is encrypted or has an unknown compression")
    if entry.file_size != size:
        raise UntrustedError(f"the entry {entry.filename!r} has {entry.file_size} bytes, expected {size}")


def _unpack_entry(archive: zipfile.ZipFile, name: str, target: Path, expected: dict[str, Any]) -> None:
    """Write one entry and sync it; stop at the first byte that is too much."""
    digest, size = hashlib.sha256(), 0
    with archive.open(name) as source, open(target, "xb", opener=private) as file:
        while chunk := source.read(_CHUNK):
            size += len(chunk)
            if size > expected["bytes"]:
                break
            digest.update(chunk)
            file.write(chunk)
        file.flush()
        os.fsync(file.fileno())
    if size != expected["bytes"]:
        raise UntrustedError(f"the entry {name!r} has another size than its manifest says")
    if digest.hexdigest() != expected["sha256"]:
        raise UntrustedError(f"the entry {name!r} has a wrong checksum")
