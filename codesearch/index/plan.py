"""A root and its last commit -> what has to be done. Light to import: most runs find nothing to do."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from codesearch.config import IndexConfig
from codesearch.errors import IndexStoreError
from codesearch.index.manifest import Manifest, read_manifest
from codesearch.index.stamps import Stamps, read_stamps
from codesearch.parsing.languages import LANGUAGES, grammar_version
from codesearch.parsing.walker import SourceFile, WalkReport, walk
from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord, StoreReader

_RACY_NS = 2_000_000_000
"""A file written this shortly before it was read may change again within its time stamp's grain."""
UNREADABLE = "unreadable"
_PARSED_BYTES_S = 1_000_000
"""What one second indexes at least on two cores."""


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A file of the last commit that is not dead: where it is, and its record."""

    segment: int
    file_id: int
    record: FileRecord


@dataclass(frozen=True)
class Plan:
    """What an update would do.

    Attributes:
        root: the folder to index.
        index_folder: where its index lives.
        config: what shapes the index.
        previous: the last commit, if this version can build on it.
        files: every source file, in the order of their paths.
        kept: path -> each unchanged file of the last commit, with the time stamp seen now.
        dead: files of the last commit that are gone or changed.
        removed: how many files of the last commit are gone.
        started_ns: wall clock when the walk began.
    """

    root: Path
    index_folder: Path
    config: IndexConfig
    previous: Manifest | None
    config_digest: str
    files: list[SourceFile]
    kept: dict[str, LiveFile]
    dead: list[LiveFile]
    removed: int
    report: WalkReport
    started_ns: int

    @property
    def nothing_to_do(self) -> bool:
        """Say whether the last commit is what would be written."""
        return bool(self.previous and self.previous.complete) and not self.dead and not self.to_parse

    @property
    def estimated_seconds(self) -> float:
        """Estimate how long a build takes."""
        return sum(file.size for file in self.to_parse) / _PARSED_BYTES_S

    @cached_property
    def to_parse(self) -> list[SourceFile]:
        """The files that are new or changed."""
        return [file for file in self.files if file.path not in self.kept]

    @property
    def stamps(self) -> Stamps:
        """What a later walk would have to find for nothing to have changed."""
        trusted = {
            file.path: (file.size, trusted_mtime(file.mtime_ns, self.started_ns)) for file in self.files
        }
        folders = {
            path: (size, trusted_mtime(mtime_ns, self.started_ns))
            for path, (size, mtime_ns) in self.report.watched.items()
        }
        return Stamps(files=trusted, watched=folders)


def plan_update(
    root: Path, index_folder: Path, config: IndexConfig, model_id: str, *, rebuild: bool = False
) -> Plan:
    """Walk `root` and compare it with the last commit.

    Raises:
        ConfigError: `root` is not a folder that can be read.
    """
    started_ns = time.time_ns()
    report = WalkReport()
    files = sorted(walk(root, config.walk, report), key=lambda file: file.path)
    digest = config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))
    previous = None if rebuild else _usable(index_folder, digest)
    known = live_files(index_folder, previous) if previous else {}
    stamps = read_stamps(index_folder, previous.commit).files if previous else {}
    kept = {}
    for file in files:
        live = known.get(file.path)
        if live and _is_unchanged(root, file, live.record, stamps.get(file.path)):
            kept[file.path] = live
    dead = [live for path, live in known.items() if path not in kept]
    removed = len(known.keys() - {file.path for file in files})
    return Plan(root, index_folder, config, previous, digest, files, kept, dead, removed, report, started_ns)


def live_files(index_folder: Path, manifest: Manifest) -> dict[str, LiveFile]:
    """Read the files of a commit that are not dead, by path."""
    found: dict[str, LiveFile] = {}
    for entry in manifest.segments:
        store = StoreReader(index_folder / entry.folder, manifest.root)
        try:
            dead = set(entry.dead_files)
            for file_id, record in enumerate(store.files().values()):
                if file_id not in dead:
                    found[record.path] = LiveFile(entry.number, file_id, record)
        finally:
            store.close()
    return found


def trusted_mtime(mtime_ns: int, started_ns: int) -> int:
    """Return the time stamp to remember: 0, which no file has, when it is too fresh to be trusted."""
    return 0 if mtime_ns > started_ns - _RACY_NS else mtime_ns


def _usable(index_folder: Path, digest: str) -> Manifest | None:
    try:
        manifest = read_manifest(index_folder)
    except IndexStoreError:
        return None
    return manifest if manifest.config_digest == digest else None


def _is_unchanged(root: Path, file: SourceFile, record: FileRecord, stamp: tuple[int, int] | None) -> bool:
    """Compare a file with its record: the time stamps of the record or of the last walk, else the content."""
    if file.size != record.size or file.language != record.language:
        return False
    if file.mtime_ns == record.mtime_ns or (file.size, file.mtime_ns) == stamp:
        return True
    try:
        source = (root / file.path).read_bytes()
    except OSError:
        return record.skipped == UNREADABLE
    return content_digest(source) == record.digest
