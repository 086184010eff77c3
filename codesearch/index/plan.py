"""A root and its last commit -> what has to be done. Light to import: most runs find nothing to do.

Where no folder changed since the last walk, the saved stamps name the files to look at, and nothing is walked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from codesearch.config import IndexConfig, IndexOptions, WalkConfig
from codesearch.errors import IndexStoreError
from codesearch.index.manifest import Manifest, Tally, limited_counts, read_manifest
from codesearch.index.stamps import Comparison, Stamp, Stamps, compare, read_stamps
from codesearch.parsing.ignore import rule_files_above
from codesearch.parsing.languages import LANGUAGES, grammar_version
from codesearch.parsing.walker import SourceFile, WalkReport, known_file, walk
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
        to_parse: files that are new or changed, in the order of their paths.
        dead: files of the last commit that are gone or changed.
        kept: how many files of the last commit are unchanged.
        removed: how many files of the last commit are gone.
        walked: what the walk passed over.
        missing_grammars: language -> how many files have no parser.
        stamps: what a later check has to find for nothing to have changed.
        stamps_changed: whether they differ from those of the last commit.
        started_ns: wall clock when the first file was looked at.
    """

    root: Path
    index_folder: Path
    config: IndexConfig
    previous: Manifest | None
    config_digest: str
    to_parse: list[SourceFile]
    dead: list[LiveFile]
    kept: int
    removed: int
    walked: Tally
    missing_grammars: dict[str, int]
    stamps: Stamps
    stamps_changed: bool
    started_ns: int

    @property
    def nothing_to_do(self) -> bool:
        """Say whether the last commit is what would be written."""
        if not self.previous or not self.previous.complete or self.dead or self.to_parse:
            return False
        settings = self.previous.walk_config(), IndexOptions.of(self.previous.options)
        return settings == (self.config.walk, self.config.options)

    @property
    def estimated_seconds(self) -> float:
        """Estimate how long a build takes."""
        return sum(file.size for file in self.to_parse) / _PARSED_BYTES_S


def plan_update(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    model_id: str,
    *,
    rebuild: bool = False,
    seen: Comparison | None = None,
) -> Plan:
    """Compare `root` with the last commit: by the stamps where no folder changed, else by a walk.

    Args:
        root: the folder to index.
        index_folder: where its index lives.
        config: what shapes the index.
        model_id: names the model that makes the vectors.
        rebuild: whether to plan as if there were no last commit.
        seen: a comparison with the stamps made a moment ago, which is used if it is one with the last commit.

    Raises:
        ConfigError: `root` is not a folder that can be read.
    """
    digest = config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))
    previous = None if rebuild else _usable(index_folder, digest)
    if previous and previous.complete and previous.walk_config() == config.walk:
        if seen is None or seen.commit != previous.commit:
            seen = compare(str(root), index_folder, previous.commit)
        files = _files_in_known_folders(root, config.walk, seen)
        if files is not None:
            return _plan_files(root, index_folder, config, previous, files, seen)
    return _plan_walk(root, index_folder, config, previous, digest)


def _plan_walk(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    previous: Manifest | None,
    digest: str,
) -> Plan:
    started_ns = time.time_ns()
    old = read_stamps(index_folder, previous.commit) if previous else Stamps()
    report = WalkReport()
    files = sorted(walk(root, config.walk, report), key=lambda file: file.path)
    known = _known_files(index_folder, previous) if previous else {}
    kept = {
        file.path
        for file in files
        if (live := known.get(file.path)) and _is_unchanged(root, file, live.record, old.files.get(file.path))
    }
    stamps = Stamps(
        {file.path: (file.size, trusted_mtime(file.mtime_ns, started_ns)) for file in files},
        {path: _trusted(stamp, started_ns) for path, stamp in report.watched.items()},
    )
    return Plan(
        root=root,
        index_folder=index_folder,
        config=config,
        previous=previous,
        config_digest=digest,
        to_parse=[file for file in files if file.path not in kept],
        dead=[live for path, live in known.items() if path not in kept],
        kept=len(kept),
        removed=len(known.keys() - {file.path for file in files}),
        walked=Tally(limited_counts(report.skipped), limited_counts(report.folders), report.warnings),
        missing_grammars=report.missing_grammars,
        stamps=stamps,
        stamps_changed=stamps != old,
        started_ns=started_ns,
    )


def _files_in_known_folders(root: Path, config: WalkConfig, seen: Comparison) -> list[SourceFile] | None:
    """Return the files whose stamps changed, as a walk would find them; None where it takes a walk to know."""
    if seen.changed is None:
        return None
    above = {path for path, _ in rule_files_above(root)} if config.ignore_files else set()
    if above != {path for path in seen.stamps.watched if os.path.isabs(path)}:
        return None
    files = [known_file(path, stamp, config) for path, stamp in sorted(seen.changed.items())]
    return None if None in files else [file for file in files if file]


def _plan_files(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    previous: Manifest,
    files: list[SourceFile],
    seen: Comparison,
) -> Plan:
    """Plan an update of a tree in which nothing but the content of some files can have changed."""
    known = _known_files(index_folder, previous, [file.path for file in files]) if files else {}
    to_parse = [
        file
        for file in files
        if not (live := known.get(file.path)) or not _is_unchanged(root, file, live.record, None)
    ]
    dead = [known[file.path] for file in to_parse if file.path in known]
    old = seen.stamps
    new = {file.path: (file.size, trusted_mtime(file.mtime_ns, seen.started_ns)) for file in files}
    return Plan(
        root=root,
        index_folder=index_folder,
        config=config,
        previous=previous,
        config_digest=previous.config_digest,
        to_parse=to_parse,
        dead=dead,
        kept=previous.source_files - len(dead),
        removed=0,
        walked=previous.walked,
        missing_grammars=previous.missing_grammars,
        stamps=Stamps({**old.files, **new}, old.watched) if files else old,
        stamps_changed=any(old.files[path] != stamp for path, stamp in new.items()),
        started_ns=seen.started_ns,
    )


def live_files(
    number: int, dead_files: Collection[int], store: StoreReader, paths: Sequence[str] | None = None
) -> Iterator[LiveFile]:
    """Read the files of a segment that are not dead: all, or those of some paths."""
    dead = set(dead_files)
    for file_id, record in store.numbered_files(paths):
        if file_id not in dead:
            yield LiveFile(number, file_id, record)


def _known_files(
    index_folder: Path, manifest: Manifest, paths: Sequence[str] | None = None
) -> dict[str, LiveFile]:
    """Read the live files of a commit by path: all, or those of some paths."""
    found: dict[str, LiveFile] = {}
    for entry in manifest.segments:
        with closing(StoreReader(index_folder / entry.folder, manifest.root)) as store:
            live = live_files(entry.number, entry.dead_files, store, paths)
            found.update((file.record.path, file) for file in live)
    return found


def _trusted(stamp: Stamp, started_ns: int) -> Stamp:
    size, mtime_ns = stamp
    return size, trusted_mtime(mtime_ns, started_ns)


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
