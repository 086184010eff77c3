"""A root and its last index -> what has to be done. Light to import: most runs find nothing to do."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from codesearch.config import IndexConfig
from codesearch.errors import IndexStoreError
from codesearch.index.manifest import Manifest, read_manifest
from codesearch.parsing.languages import LANGUAGES, grammar_version
from codesearch.parsing.walker import SourceFile, WalkReport, walk
from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord, StoreReader

_RACY_NS = 2_000_000_000
"""A file written this shortly before it was read may change again within its time stamp's grain."""
UNREADABLE = "unreadable"
_PARSED_BYTES_S, _COPIED_DOCUMENTS_S = 1_000_000, 100_000
"""What one second indexes at least on two cores."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an update would do.

    Attributes:
        root: the folder to index.
        index_folder: where its index lives.
        config: what shapes the index.
        previous: the last generation, if this version can build on it.
        files: every source file, in walk order.
        kept: path -> the last generation's record of each unchanged file.
        removed: how many files of the last generation are gone.
        started_ns: wall clock when the walk began.
    """

    root: Path
    index_folder: Path
    config: IndexConfig
    previous: Manifest | None
    config_digest: str
    files: list[SourceFile]
    kept: dict[str, FileRecord]
    removed: int
    report: WalkReport
    started_ns: int

    @property
    def nothing_to_do(self) -> bool:
        """Say whether the last generation is what would be written."""
        return self.previous is not None and not self.removed and len(self.kept) == len(self.files)

    @property
    def estimated_seconds(self) -> float:
        """Estimate how long a build takes: to parse what changed, and to copy what did not."""
        copied = self.previous.documents if self.previous else 0
        return sum(file.size for file in self.to_parse) / _PARSED_BYTES_S + copied / _COPIED_DOCUMENTS_S

    @property
    def to_parse(self) -> list[SourceFile]:
        """List the files that are new or changed."""
        return [file for file in self.files if file.path not in self.kept]


def plan_update(
    root: Path, index_folder: Path, config: IndexConfig, model_id: str, *, rebuild: bool = False
) -> Plan:
    """Walk `root` and compare it with the last generation.

    Raises:
        ConfigError: `root` is not a folder that can be read.
    """
    started_ns = time.time_ns()
    report = WalkReport()
    files = list(walk(root, config.walk, report))
    digest = config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))
    previous = None if rebuild else _usable(index_folder, digest)
    known = _known_files(index_folder, previous) if previous else {}
    kept = {}
    for file in files:
        record = known.get(file.path)
        if record and (same := _unchanged(root, file, record, started_ns)):
            kept[file.path] = same
    removed = len(known.keys() - {file.path for file in files})
    return Plan(root, index_folder, config, previous, digest, files, kept, removed, report, started_ns)


def trusted_mtime(file: SourceFile, started_ns: int) -> int:
    """Return the time stamp to remember: 0, which no file has, when it is too fresh to be trusted."""
    return 0 if file.mtime_ns > started_ns - _RACY_NS else file.mtime_ns


def _usable(index_folder: Path, digest: str) -> Manifest | None:
    try:
        manifest = read_manifest(index_folder)
    except IndexStoreError:
        return None
    return manifest if manifest.config_digest == digest else None


def _known_files(index_folder: Path, manifest: Manifest) -> dict[str, FileRecord]:
    store = StoreReader(index_folder / manifest.folder, manifest.root)
    try:
        return store.files()
    finally:
        store.close()


def _unchanged(root: Path, file: SourceFile, record: FileRecord, started_ns: int) -> FileRecord | None:
    """Return the record of a file whose content is the same, with the time stamp seen now."""
    if file.size != record.size or file.language != record.language:
        return None
    if file.mtime_ns == record.mtime_ns:
        return record
    try:
        source = (root / file.path).read_bytes()
    except OSError:
        return record if record.skipped == UNREADABLE else None
    if content_digest(source) != record.digest:
        return None
    return replace(record, mtime_ns=trusted_mtime(file, started_ns))
