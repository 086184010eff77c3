"""A root and its last commit -> the plan of an update. This module imports fast, because most runs have nothing to do.

If no folder changed since the last walk, no walk is needed: the saved stamps name all files to check. If some folders
changed, a refresh lists only these.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from codesearch.config import IndexConfig, IndexOptions, WalkConfig
from codesearch.errors import IndexStoreError
from codesearch.index.manifest import Manifest, Tally, limited_counts, read_manifest
from codesearch.index.stamps import Comparison, Stamp, Stamps, compare, is_folder, read_stamps
from codesearch.parsing.ignore import rule_files_above
from codesearch.parsing.languages import LANGUAGES, grammar_version
from codesearch.parsing.walker import (
    SourceFile,
    WalkReport,
    folder_of_rules,
    known_file,
    list_folders,
    walk,
)
from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord, StoreReader
from codesearch.treefiles import read_below

_RACY_NS = 2_000_000_000
"""A file that was written within this time before the walk may change again without a new time stamp."""
UNREADABLE = "unreadable"
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
        previous: the last commit, if the update can reuse it.
        config_digest: hash of the settings, grammars and model that affect the documents of a file.
        to_parse: new and changed files, in the order of their paths.
        dead: files of the last commit that are deleted or changed.
        kept: number of unchanged files of the last commit.
        removed: number of deleted files of the last commit.
        walked: files and folders that the walk skipped.
        missing_grammars: language -> number of files without a parser.
        stamps: the new stamps; a later check that finds the same stamps has nothing to do.
        stamps_changed: whether they differ from those of the last commit.
        started_ns: wall clock time before the first file was checked.
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
        """Say whether the last commit is complete and up to date."""
        if not self.previous or not self.previous.complete or self.dead or self.to_parse:
            return False
        settings = self.previous.walk_config(), IndexOptions.of(self.previous.options)
        return settings == (self.config.walk, self.config.options)

    @property
    def estimated_seconds(self) -> float:
        """Estimate the duration of the build."""
        return sum(file.size for file in self.to_parse) / _PARSED_BYTES_S


def plan_update(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    model_id: str,
    *,
    rebuild: bool = False,
    seen: Comparison | None = None,
    may_list: bool = False,
) -> Plan:
    """Compare `root` with the last commit: by the stamps if no folder changed, else by a walk.

    Args:
        root: the folder to index.
        index_folder: the folder of its index.
        config: the settings of the index.
        model_id: identifies the model that makes the vectors.
        rebuild: whether to ignore the last commit.
        seen: a recent comparison with the stamps; it is used only if it belongs to the last commit.
        may_list: whether to list only changed folders instead of a walk. The counts of skipped files are then those of
            the last walk, so a later plan without this option walks.

    Raises:
        ConfigError: `root` is not a readable folder.
    """
    digest = config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))
    previous = None if rebuild else _usable(index_folder, digest)
    if previous and previous.complete and previous.walk_config() == config.walk:
        if seen is None or seen.commit != previous.commit:
            seen = compare(str(root), index_folder, previous.commit)
        if may_list or not seen.stamps.is_partial:
            files = None if seen.folders else _files_in_known_folders(root, config.walk, seen)
            if files is not None:
                return _plan_files(root, index_folder, config, previous, files, seen)
        if may_list and (plan := _plan_listing(root, index_folder, config, previous, seen)):
            return plan
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
    to_parse = _different(root, files, known, old, config.walk)
    kept = {file.path for file in files} - {file.path for file in to_parse}
    stamps = Stamps(
        _file_stamps(files, started_ns), _trusted(report.watched, started_ns), listed_ns=started_ns
    )
    return Plan(
        root=root,
        index_folder=index_folder,
        config=config,
        previous=previous,
        config_digest=digest,
        to_parse=to_parse,
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
    """Return the files whose stamps changed, as a walk would return them; None if a walk is needed."""
    if seen.changed is None or not _has_same_rules_above(root, config, seen):
        return None
    return _known(seen.changed.items(), config)


def _has_same_rules_above(root: Path, config: WalkConfig, seen: Comparison) -> bool:
    above = {path for path, _ in rule_files_above(root)} if config.ignore_files else set()
    return above == {path for path in seen.stamps.watched if os.path.isabs(path)}


def _known(changed: Iterable[tuple[str, Stamp]], config: WalkConfig) -> list[SourceFile] | None:
    files = [known_file(path, stamp, config) for path, stamp in sorted(changed)]
    return None if None in files else [file for file in files if file]


def _plan_listing(
    root: Path, index_folder: Path, config: IndexConfig, previous: Manifest, seen: Comparison
) -> Plan | None:
    """Plan an update for a tree where some folders changed; None if a walk is needed."""
    old = seen.stamps
    if seen.changed is None or config.walk.follow_links or len(seen.folders) > _MOST_FOLDERS:
        return None
    if not _has_same_rules_above(root, config.walk, seen):
        return None
    report = WalkReport()
    since_ns = old.listed_ns - _RACY_NS
    listing = list_folders(root, config.walk, report, seen.folders, old.watched, since_ns)
    # A walk counts warnings and missing grammars in the whole tree.
    if listing is None or report.warnings or report.missing_grammars:
        return None
    touched = listing.listed | listing.gone
    elsewhere = {path: stamp for path, stamp in old.files.items() if _folder(path) not in touched}
    changed = _known(((path, seen.changed[path]) for path in seen.changed.keys() & elsewhere), config.walk)
    if changed is None:
        return None
    here = {file.path for file in listing.files}
    lost = [path for path in old.files if _folder(path) in touched and path not in here]
    files = sorted([*changed, *listing.files], key=lambda file: file.path)
    known = _known_files(index_folder, previous, [*lost, *(file.path for file in files)])
    to_parse = _different(root, files, known, old, config.walk)
    removed = [known[path] for path in lost if path in known]
    dead = [*(known[file.path] for file in to_parse if file.path in known), *removed]
    watched = {
        path: stamp
        for path, stamp in old.watched.items()
        if (path if is_folder(path) else folder_of_rules(path)) not in touched
    }
    stamps = Stamps(
        {**elsewhere, **_file_stamps(files, seen.started_ns)},
        {**watched, **_trusted(report.watched, seen.started_ns)},
        listed_ns=seen.started_ns,
        is_partial=True,
    )
    return Plan(
        root=root,
        index_folder=index_folder,
        config=config,
        previous=previous,
        config_digest=previous.config_digest,
        to_parse=to_parse,
        dead=dead,
        kept=previous.source_files - len(dead),
        removed=len(removed),
        walked=previous.walked,
        missing_grammars=previous.missing_grammars,
        stamps=stamps,
        stamps_changed=stamps != old,
        started_ns=seen.started_ns,
    )


def _folder(path: str) -> str:
    return path[: path.rfind("/") + 1]


def _different(
    root: Path, files: Sequence[SourceFile], known: Mapping[str, LiveFile], old: Stamps, walk: WalkConfig
) -> list[SourceFile]:
    """Return the files that the last commit does not have as they are now."""
    return [
        file
        for file in files
        if not (live := known.get(file.path))
        or not _is_unchanged(root, file, live.record, old.files.get(file.path), walk)
    ]


def _plan_files(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    previous: Manifest,
    files: list[SourceFile],
    seen: Comparison,
) -> Plan:
    """Plan an update for a tree where at most the content of some files changed."""
    known = _known_files(index_folder, previous, [file.path for file in files]) if files else {}
    old = seen.stamps
    to_parse = _different(root, files, known, old, config.walk)
    dead = [known[file.path] for file in to_parse if file.path in known]
    new = _file_stamps(files, seen.started_ns)
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
        stamps=replace(old, files={**old.files, **new}) if files else old,
        stamps_changed=any(old.files[path] != stamp for path, stamp in new.items()),
        started_ns=seen.started_ns,
    )


def live_files(
    number: int, dead_files: Collection[int], store: StoreReader, paths: Sequence[str] | None = None
) -> Iterator[LiveFile]:
    """Read the live files of a segment: all, or only those with some paths."""
    dead = set(dead_files)
    for file_id, record in store.numbered_files(paths):
        if file_id not in dead:
            yield LiveFile(number, file_id, record)


def _known_files(
    index_folder: Path, manifest: Manifest, paths: Sequence[str] | None = None
) -> dict[str, LiveFile]:
    """Read the live files of a commit by path: all, or only those with some paths."""
    found: dict[str, LiveFile] = {}
    for entry in manifest.segments:
        with closing(StoreReader(index_folder / entry.folder, manifest.root)) as store:
            live = live_files(entry.number, entry.dead_files, store, paths)
            found.update((file.record.path, file) for file in live)
    return found


def _file_stamps(files: Iterable[SourceFile], started_ns: int) -> dict[str, Stamp]:
    return _trusted({file.path: (file.size, file.mtime_ns) for file in files}, started_ns)


def _trusted(stamps: Mapping[str, Stamp], started_ns: int) -> dict[str, Stamp]:
    return {path: (size, trusted_mtime(mtime_ns, started_ns)) for path, (size, mtime_ns) in stamps.items()}


def trusted_mtime(mtime_ns: int, started_ns: int) -> int:
    """Return the time stamp to store; if it is too recent to be reliable, return 0, which no file has."""
    return 0 if mtime_ns > started_ns - _RACY_NS else mtime_ns


def _usable(index_folder: Path, digest: str) -> Manifest | None:
    try:
        manifest = read_manifest(index_folder)
    except IndexStoreError:
        return None
    return manifest if manifest.config_digest == digest else None


def _is_unchanged(
    root: Path, file: SourceFile, record: FileRecord, stamp: tuple[int, int] | None, walk: WalkConfig
) -> bool:
    """Say whether a file is unchanged; compare time stamps with the record and the last walk, then the content."""
    if file.size != record.size or file.language != record.language:
        return False
    if file.mtime_ns == record.mtime_ns or (file.size, file.mtime_ns) == stamp:
        return True
    try:
        source, _ = read_below(root, file.path, walk)
    except OSError:
        return record.skipped == UNREADABLE
    return content_digest(source) == record.digest
