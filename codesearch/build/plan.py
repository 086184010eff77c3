"""A root and its last commit -> the plan of an update. This module imports fast, because most runs have nothing to do.

If no folder changed since the last walk, no walk is needed: the saved stamps name all files to check.

`segments_to_merge` is the merge policy. Small segments are merged: the smallest ones are added one by one to the new
documents, each if it is at most `GROWTH` times as large as everything before it together. So the number of segments,
and the number of times that a document is rewritten, grow with the logarithm of the number of documents. Segments with
many dead documents are rewritten too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from codesearch.build.stamps import Comparison, Stamps, compare, read_stamps, trusted, walk_in_force
from codesearch.config import IndexConfig, IndexOptions, VectorConfig, WalkConfig
from codesearch.files import ABSENT, Stamp
from codesearch.languages import grammar_version, may_be_of
from codesearch.languages.records import LANGUAGES
from codesearch.parsing.walker import UNREADABLE, SourceFile, WalkSummary, known_file, walk
from codesearch.store.catalogue import index_folder
from codesearch.store.database import FileRecord, StoreReader
from codesearch.store.digest import content_digest
from codesearch.store.manifest import (
    Manifest,
    SegmentEntry,
    Tally,
    last_manifest,
    limited_counts,
    read_earlier,
)
from codesearch.text.bundle import SHIPPED, read_bundle
from codesearch.treefiles import read_below

MAX_DOCUMENTS = 8_000_000
"""No merge makes a larger segment. The format of postings allows twice as many documents."""
GROWTH = 3
DEAD_SHARE = 0.3
_PARSED_BYTES_S = 1_000_000
"""Bytes of source that two cores index in a second, at least."""


@dataclass(frozen=True, slots=True)
class LiveFile:
    """A file of the last commit that is not dead: its segment, its number in it, and its record."""

    segment: int
    file_id: int
    record: FileRecord
    size, stamp = 0, ABSENT  # Nothing of it is parsed.

    @property
    def path(self) -> str:
        """Its path below the root."""
        return self.record.path


@dataclass(frozen=True)
class Plan:
    """The plan of an update."""

    root: Path
    index_folder: Path
    config: IndexConfig
    last: Manifest | None  # The last commit, if there is one.
    previous: Manifest | None  # The last commit, if the update can reuse it.
    config_digest: str  # Hash of the settings, grammars and model that affect the documents of a file.
    to_parse: list[SourceFile]  # New and changed files, in the order of their paths.
    dead: list[LiveFile]  # Files of the last commit that are deleted or changed.
    removed: int  # Number of deleted files of the last commit.
    walked: Tally
    missing_grammars: dict[str, int]
    stamps: Stamps  # A later check that finds the same has nothing to do.
    stamps_changed: bool  # Whether they differ from those of the last commit.
    stores: Stores  # The open databases of the last commit.
    model: Path = SHIPPED  # Folder of the bundle that embeds the documents.
    was_earlier_format: bool = False  # Whether an earlier version wrote the last index.
    seeded: bool = False  # Whether the index is new and starts with the segments of a similar one.

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

    def close(self) -> None:
        """Close the databases."""
        self.stores.close()


class BuildSummary(NamedTuple):
    """What a run did."""

    manifest: Manifest
    parsed: int = 0  # Files.
    kept: int = 0  # Unchanged files.
    removed: int = 0  # Files that no longer exist.
    embedded: int = 0  # Texts.
    model: str = ""  # Name of the model; "" if nothing was written.
    device: str = ""  # Where it ran.


def digest_of(config: IndexConfig, model_id: str) -> str:
    """Hash the settings, grammars and model that affect the documents of a file."""
    return config.digest(model_id, *(grammar_version(spec) for spec in LANGUAGES))


def prepare(
    root: Path,
    options: IndexOptions,
    home: Path,
    vectors: VectorConfig,
    *,
    model: Path | None = None,
    rebuild: bool = False,
    seen: Comparison | None = None,
    until: float = math.inf,
) -> Plan:
    """Plan an update of a folder's index, or a new one, which starts with the segments of a similar index if it can.

    Without `model`, a folder of a bundle, the documents are embedded by that of the last commit, else by the shipped
    one. `rebuild` forgets the last index and its settings. With `seen`, how the folder compares with an index, no new
    one is made. After the time `until` of `time.monotonic`, `OutOfTimeError` is raised.
    """
    folder = seen.index_folder if seen else index_folder(home, root)
    last = last_manifest(folder)  # Another process may have committed since the comparison.
    made_with = None if rebuild else last or read_earlier(folder)
    is_same = seen and last and seen.manifest.commit == last.commit
    settings = seen.settings if seen and is_same else walk_in_force(root, made_with, options)
    config = IndexConfig(walk=settings[0], vectors=vectors, options=settings[1])
    model = model or (made_with.model_folder if made_with else SHIPPED)
    model_id = read_bundle(model).model_id
    seeded = None
    if not (made_with or rebuild or seen):
        from codesearch.build.seed import seed_index

        seeded = seed_index(root, folder, home, digest_of(config, model_id))
    plan = plan_update(
        root, folder, config, model_id, last=seeded or last, rebuild=rebuild, seen=seen, until=until
    )
    was_earlier_format = made_with is not None and made_with is not last
    return replace(plan, model=model, was_earlier_format=was_earlier_format, seeded=seeded is not None)


def plan_update(
    root: Path,
    index_folder: Path,
    config: IndexConfig,
    model_id: str,
    *,
    last: Manifest | None,
    rebuild: bool = False,
    seen: Comparison | None = None,
    until: float = math.inf,
) -> Plan:
    """Compare `root` with the last commit: by the stamps if no folder changed, else by a walk."""
    summary = WalkSummary(until=until)
    digest = digest_of(config, model_id)
    previous = None if rebuild or not last or last.config_digest != digest else last
    tree = None
    if previous and previous.complete:
        if seen is None or seen.manifest.commit != previous.commit:
            seen = compare(index_folder, previous, (config.walk, config.options))
        tree = _changes(config.walk, previous, seen)
    old = seen.stamps if seen else read_stamps(index_folder, previous.commit) if previous else Stamps()
    tree = tree or _walked(root, config.walk, old, summary)
    with ExitStack() as opened:  # If what follows fails, the databases are closed.
        stores = Stores(index_folder, previous)
        opened.enter_context(closing(stores))
        known = stores.files(None if tree.is_whole else [file.path for file in tree.files])
        # The flags of what is in such folders depend on more than each file.
        switched = tuple(set(tree.walked.vendored) ^ set(previous.walked.vendored)) if previous else ()
        to_parse = [
            file
            for file in tree.files
            if not (live := known.get(file.path))
            or file.path.startswith(switched)
            or not _is_unchanged(root, file, live.record, old.files.get(file.path), config.walk, summary)
        ]
        opened.pop_all()
    gone = known.keys() - {file.path for file in tree.files}
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
        walked=tree.walked,
        missing_grammars=tree.missing_grammars,
        stamps=tree.stamps,
        stamps_changed=tree.stamps != old,
        stores=stores,
    )


@dataclass(frozen=True, slots=True)
class _Tree:
    """What is known of a tree now."""

    files: list[SourceFile]  # Files to compare with the last commit, in the order of their paths.
    is_whole: bool  # Whether `files` are all files of the tree, and not only those whose stamps changed.
    walked: Tally
    missing_grammars: dict[str, int]
    stamps: Stamps


def _walked(root: Path, config: WalkConfig, old: Stamps, summary: WalkSummary) -> _Tree:
    """Return what a walk finds."""
    started_ns = time.time_ns()
    files = sorted(walk(root, config, summary), key=lambda file: file.path)
    counts = limited_counts(summary.skipped), limited_counts(summary.folders)
    tally = Tally(*counts, summary.warnings, summary.vendored)
    stamps = Stamps(
        trusted({file.path: file.stamp for file in files}, started_ns, old.files, old.taken_ns),
        trusted(summary.passed, started_ns, old.passed, old.taken_ns),
        trusted(summary.watched, started_ns, old.watched, old.taken_ns),
        time.time_ns(),
    )
    return _Tree(files, True, tally, summary.missing_grammars, stamps)


def _changes(config: WalkConfig, previous: Manifest, seen: Comparison) -> _Tree | None:
    """Return the source files whose stamps changed; None if a walk is needed."""
    old = seen.stamps
    if seen.changed is None:
        return None
    files: list[SourceFile] = []
    for path in sorted(seen.changed):
        if not (file := known_file(path, seen.changed[path], config)):
            return None
        files.append(file)
    new = trusted({file.path: file.stamp for file in files}, seen.started_ns, old.files, old.taken_ns)
    stamps = replace(old, files={**old.files, **new}, taken_ns=time.time_ns())
    return _Tree(files, False, previous.walked, previous.missing_grammars, stamps)


class Stores:
    """The open databases of an index: segment number -> database. Without a commit, there are none."""

    def __init__(self, index_folder: Path, manifest: Manifest | None) -> None:
        self._segments = manifest.segments if manifest else []
        self.opened: dict[int, StoreReader] = {}
        with ExitStack() as opened:
            for entry in self._segments:
                store = StoreReader(index_folder / entry.folder, manifest.root if manifest else "")
                self.opened[entry.number] = opened.enter_context(closing(store))
            opened.pop_all()

    def files(self, paths: Sequence[str] | None = None) -> dict[str, LiveFile]:
        """Read the live files by path: all, or only those with some paths."""
        return {
            live.record.path: live
            for entry in self._segments
            for live in live_files(entry, self.opened[entry.number], paths)
        }

    def close(self) -> None:
        """Close those that no reader has taken."""
        for store in self.opened.values():
            store.close()


def live_files(
    entry: SegmentEntry, store: StoreReader, paths: Sequence[str] | None = None
) -> Iterator[LiveFile]:
    """Read the live files of a segment: all, or only those with some paths."""
    dead, files = set(entry.dead_files), store.numbered_files(paths)
    return (LiveFile(entry.number, file_id, record) for file_id, record in files if file_id not in dead)


def _is_unchanged(
    root: Path,
    file: SourceFile,
    record: FileRecord,
    stamp: Stamp | None,
    walk: WalkConfig,
    summary: WalkSummary,
) -> bool:
    """Say whether a file is unchanged: compare its stamp with that of the last walk, then the content."""
    if file.size != record.size or not may_be_of(record.language, file.language):
        return False
    if file.stamp == stamp:
        return True
    summary.check_time()
    try:
        source, _ = read_below(root, file.path, walk)
    except OSError:
        return record.skipped == UNREADABLE
    return content_digest(source) == record.digest


def can_merge(entries: Sequence[SegmentEntry]) -> bool:
    """Say whether merging all segments would change anything."""
    has_dead = any(entry.dead_files for entry in entries)
    return has_dead or len(segments_to_merge(entries, 0, merge_all=True)) > 1


def segments_to_merge(
    entries: Sequence[SegmentEntry], new_documents: int, *, merge_all: bool = False
) -> list[SegmentEntry]:
    """Choose the segments to merge with about `new_documents` new documents; with `merge_all`, all that fit."""
    chosen: list[SegmentEntry] = []
    gathered = new_documents
    by_size = sorted(entries, key=lambda entry: (entry.live_documents, entry.number))
    for entry in sorted(by_size, key=_is_mostly_dead, reverse=True):  # Mostly dead ones come first.
        fits = gathered + entry.live_documents <= MAX_DOCUMENTS
        grows = entry.live_documents <= GROWTH * gathered
        if not fits or not (merge_all or _is_mostly_dead(entry) or grows):
            continue
        chosen.append(entry)
        gathered += entry.live_documents
    return sorted(chosen, key=lambda entry: entry.number)


def _is_mostly_dead(entry: SegmentEntry) -> bool:
    return entry.live_documents <= (1 - DEAD_SHARE) * entry.documents
