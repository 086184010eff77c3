"""A root and its last commit -> the plan of an update. This module imports fast, because most runs have nothing to do.

If no folder changed since the last walk, no walk is needed: the saved stamps name all files to check. If some folders
changed, a refresh lists only these.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from codesearch.build.current import Comparison, compare
from codesearch.build.stamps import Stamps, read_stamps, trusted
from codesearch.config import IndexConfig, IndexOptions, WalkConfig
from codesearch.files import Stamp
from codesearch.parsing.grammars import grammar_version
from codesearch.parsing.languages import LANGUAGES
from codesearch.parsing.rule_files import folder_of
from codesearch.parsing.walker import UNREADABLE, SourceFile, WalkReport, known_file, list_folders, walk
from codesearch.store.database import FileRecord, StoreReader
from codesearch.store.digest import content_digest
from codesearch.store.manifest import Manifest, Tally, limited_counts
from codesearch.treefiles import read_below

_MOST_FOLDERS = 1_000
"""If more folders changed, a walk takes no longer than to list them one by one."""
_PARSED_BYTES_S = 1_000_000
"""Bytes of source that two cores index in a second, at least."""


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A file of the last commit that is not dead: its segment, its number in it, and its record."""

    segment: int
    file_id: int
    record: FileRecord


@dataclass(frozen=True)
class Plan:
    """The plan of an update.

    Attributes:
        root: the folder to index.
        index_folder: the folder of its index.
        config: the settings of the index.
        last: the last commit, if there is one.
        previous: the last commit, if the update can reuse it.
        config_digest: hash of the settings, grammars and model that affect the documents of a file.
        to_parse: new and changed files, in the order of their paths.
        dead: files of the last commit that are deleted or changed.
        removed: number of deleted files of the last commit.
        walked: files and folders that the walk skipped.
        missing_grammars: language -> number of its files, if its parser is not installed.
        stamps: the new stamps; a later check that finds the same stamps has nothing to do.
        stamps_changed: whether they differ from those of the last commit.
    """

    root: Path
    index_folder: Path
    config: IndexConfig
    last: Manifest | None
    previous: Manifest | None
    config_digest: str
    to_parse: list[SourceFile]
    dead: list[LiveFile]
    removed: int
    walked: Tally = field(default_factory=Tally)
    missing_grammars: dict[str, int] = field(default_factory=dict)
    stamps: Stamps = field(default_factory=Stamps)
    stamps_changed: bool = False

    @property
    def kept(self) -> int:
        """Number of unchanged files of the last commit."""
        return self.previous.source_files - len(self.dead) if self.previous else 0

    @property
    def nothing_to_do(self) -> bool:
        """Say whether the last commit is complete and up to date."""
        if not self.previous or not self.previous.complete or self.dead or self.to_parse:
            return False
        settings = self.previous.walk_config(), IndexOptions.of(self.previous.options)
        return settings == (self.config.walk, self.config.options)

    @property
    def estimated_seconds(self) -> float:
        """Estimate the duration of the build."""
        return sum(file.size for file in self.to_parse) / _PARSED_BYTES_S


def digest_of(config: IndexConfig, model_id: str) -> str:
    """Hash the settings, grammars and model that affect the documents of a file."""
    return config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))


def plan_update(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    model_id: str,
    *,
    last: Manifest | None,
    rebuild: bool = False,
    seen: Comparison | None = None,
    may_list: bool = False,
    until: float = math.inf,
) -> Plan:
    """Compare `root` with the last commit: by the stamps if no folder changed, else by a walk."""
    report = WalkReport(until=until)
    digest = digest_of(config, model_id)
    previous = None if rebuild or not last or last.config_digest != digest else last
    found = None
    if previous and previous.complete:
        if seen is None or seen.commit != previous.commit:
            seen = compare(index_folder, previous, config.walk)
        if may_list or not (seen.folders or seen.stamps.is_partial):
            found = _changes(root, config.walk, previous, seen, WalkReport(until=until))
    old = seen.stamps if seen else read_stamps(index_folder, previous.commit) if previous else Stamps()
    found = found or _walked(root, config.walk, old, report)
    known: dict[str, LiveFile] = {}
    if previous:
        paths = None if found.gone is None else [*found.gone, *(file.path for file in found.files)]
        known = known_files(index_folder, previous, paths)
    to_parse = [
        file
        for file in found.files
        if not (live := known.get(file.path))
        or not _is_unchanged(root, file, live.record, old.files.get(file.path), config.walk, report)
    ]
    here = {file.path for file in found.files}
    gone = known.keys() - here if found.gone is None else known.keys() & found.gone
    dead = [known[path] for path in [*(file.path for file in to_parse if file.path in known), *sorted(gone)]]
    return Plan(
        root=root,
        index_folder=index_folder,
        config=config,
        last=last,
        previous=previous,
        config_digest=digest,
        to_parse=to_parse,
        dead=dead,
        removed=len(gone),
        walked=found.walked,
        missing_grammars=found.missing_grammars,
        stamps=found.stamps,
        stamps_changed=found.stamps != old,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What is known of a tree now.

    Attributes:
        files: files to compare with the last commit, in the order of their paths.
        gone: files of the last commit that no longer exist; None if `files` are all files of the tree.
    """

    files: list[SourceFile]
    gone: set[str] | None
    walked: Tally
    missing_grammars: dict[str, int]
    stamps: Stamps


def _walked(root: Path, config: WalkConfig, old: Stamps, report: WalkReport) -> _Found:
    """Return what a walk finds."""
    started_ns = time.time_ns()
    files = sorted(walk(root, config, report), key=lambda file: file.path)
    tally = Tally(limited_counts(report.skipped), limited_counts(report.folders), report.warnings)
    stamps = _stamps_of(files, report, started_ns, old)
    return _Found(files, None, tally, report.missing_grammars, stamps)


def _changes(
    root: Path, config: WalkConfig, previous: Manifest, seen: Comparison, report: WalkReport
) -> _Found | None:
    """Return the files whose stamps changed and those in the folders whose stamps changed; None if a walk is needed."""
    old = seen.stamps
    if seen.changed is None:
        return None
    files: list[SourceFile] = []
    touched: frozenset[str] = frozenset()
    if seen.folders:
        if config.follow_links or len(seen.folders) > _MOST_FOLDERS:
            return None
        listing = list_folders(root, config, report, seen.folders, old.watched)
        # A walk counts warnings and missing grammars in the whole tree.
        if listing is None or report.warnings or report.missing_grammars:
            return None
        files, touched = listing.files, listing.listed | listing.gone
    here = {file.path for file in files}
    elsewhere = _outside(old.files, touched)
    for path in seen.changed.keys() & elsewhere:
        if not (file := known_file(path, seen.changed[path], config)):
            return None
        files.append(file)
    files.sort(key=lambda file: file.path)
    new = _stamps_of(files, report, seen.started_ns, old)
    stamps = Stamps(
        {**elsewhere, **new.files},
        {**_outside(old.passed, touched), **new.passed},
        {**_outside(old.watched, touched), **new.watched},
        new.taken_ns,
        is_partial=old.is_partial or bool(touched),
    )
    gone = old.files.keys() - elsewhere.keys() - here
    return _Found(files, gone, previous.walked, previous.missing_grammars, stamps)


def _outside(stamps: Mapping[str, Stamp], folders: Collection[str]) -> dict[str, Stamp]:
    """Return the stamps of what is not in one of these folders."""
    if not folders:
        return dict(stamps)
    return {path: stamp for path, stamp in stamps.items() if folder_of(path) not in folders}


def live_files(
    number: int, dead_files: Collection[int], store: StoreReader, paths: Sequence[str] | None = None
) -> Iterator[LiveFile]:
    """Read the live files of a segment: all, or only those with some paths."""
    dead = set(dead_files)
    for file_id, record in store.numbered_files(paths):
        if file_id not in dead:
            yield LiveFile(number, file_id, record)


def known_files(
    index_folder: Path, manifest: Manifest, paths: Sequence[str] | None = None
) -> dict[str, LiveFile]:
    """Read the live files of a commit of an index by path: all, or only those with some paths."""
    found: dict[str, LiveFile] = {}
    for entry in manifest.segments:
        with closing(StoreReader(index_folder / entry.folder, manifest.root)) as store:
            live = live_files(entry.number, entry.dead_files, store, paths)
            found.update((file.record.path, file) for file in live)
    return found


def _stamps_of(files: Iterable[SourceFile], report: WalkReport, started_ns: int, old: Stamps) -> Stamps:
    """Return what a walk that began at `started_ns` found, as it is stored."""
    return Stamps(
        trusted({file.path: file.stamp for file in files}, started_ns, old.files, old.taken_ns),
        trusted(report.passed, started_ns, old.passed, old.taken_ns),
        trusted(report.watched, started_ns, old.watched, old.taken_ns),
        time.time_ns(),
    )


def _is_unchanged(
    root: Path,
    file: SourceFile,
    record: FileRecord,
    stamp: Stamp | None,
    walk: WalkConfig,
    report: WalkReport,
) -> bool:
    """Say whether a file is unchanged: compare its stamp with that of the last walk, then the content."""
    if file.size != record.size or file.language != record.language:
        return False
    if file.stamp == stamp:
        return True
    report.check_time()
    try:
        source, _ = read_below(root, file.path, walk)
    except OSError:
        return record.skipped == UNREADABLE
    return content_digest(source) == record.digest
