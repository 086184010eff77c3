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
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

from codesearch.files import scratch_folder
from codesearch.portable.export import ExportReport, Format, OnStage, export_index
from codesearch.store.arrays import write_sources
from codesearch.store.catalogue import IndexEntry
from codesearch.store.digest import check_digest, describe_files
from codesearch.store.manifest import Manifest, SegmentEntry
from codesearch.store.reader import IndexReader, SegmentReader
from codesearch.store.source import read_content
from codesearch.store.untrusted import FILES, is_name

PORTABLE_VERSION = 1
HEAD = "codesearch.json"
_MARKS = {0: b"PK\x03\x04", 30: HEAD.encode()}
"""An archive begins so, and with the name of its first entry."""


def export_portable(
    entry: IndexEntry, file: Path, home: Path, *, with_code: bool, on_progress: OnStage
) -> ExportReport:
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
