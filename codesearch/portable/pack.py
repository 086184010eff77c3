"""An index -> one portable file that another machine imports.

The file is a zip archive:

    codesearch.json                     {"portable": 1, "manifest": ..}; always the first entry
    segments/000001/documents.sqlite    the files of each segment (see `codesearch.store.manifest`)
    segments/000001/sources.npy         only with code (see `codesearch.store.arrays`)

The manifest is that of the index. It names every other entry with its size and sha256. Its root is only a name, so the
file has no path of the machine that made it. Time stamps and permissions are constants, so the same index gives the
same bytes. The graph of an index is not exported.
"""

from __future__ import annotations

import json
import ntpath
import re
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from codesearch.errors import ExportError, IndexCorruptError
from codesearch.files import atomic_writer, scratch_folder
from codesearch.store.arrays import write_sources
from codesearch.store.catalogue import IndexEntry, writer_lock
from codesearch.store.database import storage_errors
from codesearch.store.digest import check_digest, describe_files
from codesearch.store.manifest import Manifest, SegmentEntry
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.source import read_content
from codesearch.store.untrusted import FILES, is_name

PORTABLE_VERSION = 1
HEAD = "codesearch.json"
_MARKS = {0: b"PK\x03\x04", 30: HEAD.encode()}
"""An archive begins so, and with the name of its first entry."""
OnStage = Callable[[str, int, int], None]
"""Called with a stage, and how many bytes or documents of how many are done in it."""
PATIENCE_S = 10.0
"""How long to wait for a writer of the index."""


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """What an export wrote."""

    root: str  # The indexed folder.
    documents: int
    files: int  # Source files in the index.
    changed: int  # Files that changed after they were indexed; their documents have no code.
    missing: int  # Files that are gone or cannot be read; their documents have no code.
    file: Path
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Format:
    """A format of an export."""

    name: str
    marks: Mapping[int, bytes]  # What every file of this format has at these positions.
    write: Callable[[IndexReader, BinaryIO, Counter[str]], None]
    """Write an index to an empty file, and count the files without code as "changed" and "missing"."""


def export_index(entry: IndexEntry, file: Path, home: Path, to: Format) -> ExportSummary:
    """Write an index, which no other process can change meanwhile, to a new file, which replaces `file` at the end."""
    started, without_code = time.monotonic(), Counter[str]()
    _check_target(file, to)
    with (
        storage_errors(home),
        writer_lock(entry.folder, entry.root, wait_s=PATIENCE_S),
        closing(IndexReader.open(entry.folder)) as index,
    ):
        manifest = index.manifest
        try:
            with atomic_writer(file.resolve(), sync=True) as part:
                to.write(index, part, without_code)
        except OSError as error:
            name = error.filename
            if isinstance(error, FileNotFoundError) and name and Path(name).is_relative_to(index.folder):
                raise IndexCorruptError(Path(name), "missing", manifest.root) from None
            raise ExportError(f"{file} cannot be written: {error.strerror}") from error
    counts = manifest.documents, manifest.source_files, without_code["changed"], without_code["missing"]
    return ExportSummary(manifest.root, *counts, file, file.stat().st_size, time.monotonic() - started)


def _check_target(file: Path, to: Format) -> None:
    """Check that a file is new or has this format."""
    if not file.exists():
        return
    if not file.is_file():
        raise ExportError(f"{file} is not a regular file", "name another file")
    with open(file, "rb") as stream:
        start = stream.read(100)
    if not all(start.startswith(mark, at) for at, mark in to.marks.items()):
        raise ExportError(f"{file} is not {to.name}", "name another file")


def export_portable(
    entry: IndexEntry, file: Path, home: Path, *, with_code: bool, on_progress: OnStage
) -> ExportSummary:
    """Write an index, which no other process can change meanwhile."""

    def write(index: IndexReader, part: BinaryIO, without_code: Counter[str]) -> None:
        with scratch_folder(home) as scratch:
            manifest, places = _parts(index, scratch if with_code else None, without_code)
            _write_archive(part, manifest, places, on_progress)

    return export_index(entry, file, home, Format("a portable file", _MARKS, write))


def _parts(
    index: IndexReader, scratch: Path | None, without_code: Counter[str]
) -> tuple[Manifest, dict[str, Path]]:
    """Return the manifest of a portable file, and where its files are; those with code are written to `scratch`."""
    entries: list[SegmentEntry] = []
    places: dict[str, Path] = {}
    for segment, entry in zip(index.segments, index.manifest.segments, strict=True):
        files = {name: file for name, file in entry.files.items() if name in FILES}
        places |= {f"{entry.folder}/{name}": segment.folder / name for name in files}
        for name, file in files.items():
            check_digest(segment.folder / name, file, segment.root)
        if scratch:
            folder = scratch / str(entry.number)
            folder.mkdir(0o700)
            write_sources(folder, _sources(segment, without_code))
            code = describe_files(folder)
            places |= {f"{entry.folder}/{name}": folder / name for name in code}
            files |= code
        entries.append(replace(entry, files=files))
    # The file has no path of this machine.
    manifest = replace(
        index.manifest,
        root=exported_name(index.manifest.root),
        model={**index.manifest.model, "folder": ""},
        walked=replace(index.manifest.walked, warnings=[]),
        parsed=replace(index.manifest.parsed, warnings=[]),
        segments=entries,
    )
    return manifest, places


def exported_name(root: str) -> str:
    """Return the name of an index whose sources are elsewhere.

    >>> exported_name("/builds/x"), exported_name("/")
    ('x', 'index')
    """
    name = re.sub(r"[^\w.+@ -]", "-", ntpath.basename(root)).strip(" ._-")[:100].rstrip(" .")
    return name if is_name(name) else "index"


def _sources(segment: SegmentReader, without_code: Counter[str]) -> Iterator[bytes]:
    """Yield the bytes of each live and unchanged file, b"" for others, which are counted in `without_code`."""
    for file_id, record in enumerate(segment.files):
        if file_id in segment.dead_files or not record.doc_count:
            yield b""
            continue
        source, changed = read_content(segment, record) or (b"", False)
        without_code.update(changed=changed, missing=not source)
        yield b"" if changed else source


def _write_archive(file: BinaryIO, manifest: Manifest, places: dict[str, Path], on_progress: OnStage) -> None:
    """Write the archive of a manifest; `places` maps the names of entries to files."""
    total, done = manifest.bytes, 0
    head = json.dumps({"portable": PORTABLE_VERSION, "manifest": asdict(manifest)}, sort_keys=True).encode()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(_entry(HEAD, len(head)), head)
        for name, place in sorted(places.items()):
            size = place.stat().st_size
            with open(place, "rb") as source, archive.open(_entry(name, size), "w") as target:
                shutil.copyfileobj(source, target, 1 << 20)
            done += size
            on_progress("compressing", done, total)


def _entry(name: str, size: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.compress_type = zipfile.ZIP_STORED if name.endswith("/sources.npy") else zipfile.ZIP_DEFLATED
    entry.file_size = size
    return entry
