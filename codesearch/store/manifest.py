"""The manifest, which describes a committed index. A commit writes it last (layout: docs/dev/ARCHITECTURE.md).

If a file changes, it becomes dead in its segment and is added to a newer segment. The manifest lists the dead files of
each segment. Its statistics count only live files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from codesearch.config import IndexOptions, WalkConfig
from codesearch.errors import (
    IndexCorruptError,
    IndexFormatError,
    IndexNotFoundError,
    IndexStoreError,
    unreadable,
)
from codesearch.files import ABSENT, Stamp, stamp_of, write_atomically
from codesearch.text.bundle import SHIPPED

FORMAT_VERSION = 22
MANIFEST = "manifest.json"
SEGMENTS = "segments"
WITH_CODE = "sources.npy"
"""Only segments with code have this file. `codesearch.store.arrays` reads it; this module must import fast."""
_MOST_COUNTED = 50
_CHECKSUM = "checksum"
_DIGEST_BYTES = 16
_NO_DIGEST = "0" * 2 * _DIGEST_BYTES
_CHECKSUM_VALUE = re.compile(rb'"checksum": "([0-9a-f]{32})"')
OTHER = "other"
LEFT_OUT, ONLY_BLOCKS, PARTLY_BLOCKS = "crashed", "only as blocks", "partly as blocks"
"""Reasons for a file without documents or definitions (its parser crashes or goes over a limit), or with lines that
its parser does not understand."""
Counts = dict[str, dict[str, int]]
"""Reason -> extension or name -> number."""
_MOST_KEPT = 256
_latest: dict[Path, tuple[Stamp, Manifest]] = {}
"""Index folder -> the manifest that this process read or wrote last, and its stamp."""


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment of an index."""

    number: int  # In the name of its folder.
    source_files: int  # Including dead ones.
    documents: int  # N, including dead ones.
    live_documents: int
    dead_files: list[int]  # Their file_ids, ascending.
    field_sums: list[int]  # Number of terms in each field over the live documents, [F].
    field_counts: list[int]  # Number of live documents in which each field is not empty, [F].
    files: dict[str, dict[str, Any]]  # Path inside the folder -> `{"bytes": .., "sha256": ..}`.

    @property
    def folder(self) -> str:
        """Path of the segment's folder, relative to the index folder."""
        return segment_folder(self.number)


@dataclass(frozen=True, slots=True)
class Tally:
    """Files that are not in the index."""

    skipped: Counts = field(default_factory=dict)  # Reason -> extension -> number of files.
    # Reason -> name -> number of folders that were not entered.
    folders: Counts = field(default_factory=dict)
    # One line for each file or folder that the user may want to check.
    warnings: list[str] = field(default_factory=list)
    vendored: list[str] = field(
        default_factory=list
    )  # Folders in the index that are copies of other projects.


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """What an index was made with."""

    settings: dict[str, Any]  # All walk settings.
    # The walk settings that were given as options; `index` without options uses them again.
    options: dict[str, Any]
    model: dict[str, Any]  # Name, id, dim and folder of the model.

    @property
    def model_folder(self) -> Path:
        """Folder of the bundle that made the vectors; if none is recorded, that of the shipped model."""
        return Path(self.model["folder"]) if self.model.get("folder") else SHIPPED

    def walk_config(self) -> WalkConfig:
        """Return all walk settings."""
        return IndexOptions.of(self.settings).over(WalkConfig())


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(MadeWith):
    """A committed state of an index."""

    root: str  # Absolute path of the indexed folder; a name if the index was imported without its sources.
    commit: int  # Number of this commit, counted from 1.
    created: str
    config_digest: str  # Hash of the settings, grammars and model that affect the documents of a file.
    documents: int
    source_files: int
    languages: dict[str, int]
    walked: Tally  # Files and folders that the walk skipped.
    parsed: Tally  # Files that the parser skipped.
    missing_grammars: dict[str, int]  # Language -> number of its files, if its parser is not installed.
    seconds: float
    segments: list[SegmentEntry] = field(default_factory=list)  # The segments, oldest first.
    complete: bool = True  # False during a first build, which commits each segment.
    left: int = 0  # Number of files that a first build has not indexed yet.
    format: int = FORMAT_VERSION

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        """Return the manifest whose fields JSON has, besides a checksum; it checks their names, not their types."""
        parts = {
            "walked": Tally(**raw["walked"]),
            "parsed": Tally(**raw["parsed"]),
            "segments": [SegmentEntry(**entry) for entry in raw["segments"]],
        }
        return cls(**{name: value for name, value in {**raw, **parts}.items() if name != _CHECKSUM})

    @property
    def has_sources(self) -> bool:
        """Say whether the indexed folder is on this machine; if not, `root` is only a name."""
        return os.path.isabs(self.root)

    @property
    def has_code(self) -> bool:
        """Say whether the index contains its source files; only imported indexes can."""
        return any(WITH_CODE in segment.files for segment in self.segments)

    @property
    def percent(self) -> int:
        """How much of the files is indexed."""
        return 100 * self.source_files // max(self.source_files + self.left, 1)

    @property
    def bytes(self) -> int:
        """Size of all segments on disk."""
        return sum(file["bytes"] for segment in self.segments for file in segment.files.values())

    @property
    def not_indexed(self) -> Counts:
        """Reason -> extension -> number of files that are not in the index, or only as blocks of lines."""
        return {**self.walked.skipped, **self.parsed.skipped}

    @property
    def warnings(self) -> list[str]:
        """One line for each file or folder that the user may want to check."""
        return [*self.walked.warnings, *self.parsed.warnings]


def read_earlier(index_folder: Path) -> MadeWith | None:
    """Return what an index of an earlier format was made with; None if there is no such index."""
    try:
        read_manifest(index_folder)
    except IndexFormatError as error:
        if error.is_older:
            raw = json.loads((index_folder / MANIFEST).read_text("utf-8"))
            settings = raw.get("settings", {})
            return MadeWith(settings=settings, options=not_defaults(settings), model=raw.get("model", {}))
    except IndexStoreError:
        pass
    return None


def not_defaults(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the walk settings of a manifest that differ from the defaults."""
    usual = json.loads(json.dumps(asdict(WalkConfig())))
    return {name: value for name, value in settings.items() if value != usual.get(name)}


def limited_counts(counters: Mapping[str, Counter[str]]) -> Counts:
    """Return the highest counts of each reason, and the sum of all others as `OTHER`."""
    limited = {}
    for reason, counter in sorted(counters.items()):
        ordered = sorted((-count, name) for name, count in counter.items() if count)
        if ordered:
            limited[reason] = {name: -count for count, name in ordered[:_MOST_COUNTED]}
        if rest := -sum(count for count, _ in ordered[_MOST_COUNTED:]):
            limited[reason][OTHER] = rest
    return limited


def segment_folder(number: int) -> str:
    """Return the path of a segment's folder, relative to the index folder."""
    return f"{SEGMENTS}/{number:06d}"


def commit_manifest(index_folder: Path, manifest: Manifest) -> Manifest:
    """Make a manifest the current one and return it as a reader sees it: the old or the new one, never a mixture.

    The value of `checksum` is the digest of the file with zeros in its place.
    """
    text = json.dumps({**asdict(manifest), _CHECKSUM: _NO_DIGEST}, indent=1, sort_keys=True).encode()
    path = index_folder / MANIFEST
    write_atomically(path, text.replace(_NO_DIGEST.encode(), _digest(text), 1), sync=True, for_owner=True)
    return _keep(index_folder, stamp_of(str(path)), Manifest.of(json.loads(text)))


def _is_intact(content: bytes) -> bool:
    """Say whether a manifest has the right checksum, or none."""
    checksum = _CHECKSUM_VALUE.search(content)
    if not checksum:
        return True
    start, end = checksum.span(1)
    return _digest(content[:start] + _NO_DIGEST.encode() + content[end:]) == checksum[1]


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).hexdigest().encode()


def read_manifest(index_folder: Path) -> Manifest:
    """Read the committed manifest."""
    path = index_folder / MANIFEST
    try:
        content = path.read_bytes()
        raw = json.loads(content)
    except FileNotFoundError:
        raise IndexNotFoundError(f"no index at {index_folder}", "run `codesearch index FOLDER`") from None
    except OSError as error:
        raise unreadable(path, error, "FOLDER") from None
    except (ValueError, RecursionError) as error:
        raise IndexCorruptError(path, f"cannot be read ({error})", "FOLDER") from None
    if not isinstance(raw, dict):
        raw = {}
    root = str(raw.get("root", "FOLDER"))
    if not _is_intact(content):
        raise IndexCorruptError(path, "its bytes were changed", root)
    if raw.get("format") != FORMAT_VERSION:
        raise IndexFormatError(raw.get("format"), FORMAT_VERSION, root)
    try:
        return Manifest.of(raw)
    except (TypeError, KeyError) as error:
        raise IndexCorruptError(path, str(error), root) from None


def manifest_at(index_folder: Path, stamp: Stamp) -> Manifest:
    """Return the manifest with a stamp; it is read unless this process read or wrote it last."""
    known, manifest = _latest.get(index_folder, (ABSENT, None))
    return (
        manifest if manifest and known == stamp else _keep(index_folder, stamp, read_manifest(index_folder))
    )


def _keep(index_folder: Path, stamp: Stamp, manifest: Manifest) -> Manifest:
    if len(_latest) >= _MOST_KEPT:
        _latest.clear()
    _latest[index_folder] = stamp, manifest
    return manifest


def last_manifest(index_folder: Path) -> Manifest | None:
    """Return the committed manifest, or None if there is none that this version can build on."""
    try:
        return manifest_at(index_folder, stamp_of(str(index_folder / MANIFEST)))
    except IndexStoreError:
        return None
