"""The manifest: what an index holds, committed last.

    <home>/indexes/<name>-<hash>/
        manifest.json           replaced as a whole; names the segments
        stamps                  time stamps of the last walk (see `stamps`); disposable
        lock                    held while a writer works
        segments/<number>/      never changed once the manifest names it
            documents.sqlite    files and documents (see `store`)
            rows/*.npy          small numbers of each document, for filters
            postings/*.npy      lists of terms (see `postings`)
            vectors.int8 ...    vectors (see `vectors`)

A file that changes dies in its segment and lives on in a newer one. The manifest lists the dead files of each segment,
and has the statistics of what lives.

Format history:
    1   the first
    2   terms without inflection, abbreviations spelled out
    3   flags of documents beside the rows, compounds taken apart
    4   the first paragraph of documentation counted again
    5   flags of tests and of vendored code, beside those of generated code and stubs
    6   segments
    7   keys of copies, flags of build output
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from codesearch.config import IndexOptions, WalkConfig
from codesearch.encoding.bundle import SHIPPED
from codesearch.errors import IndexCorruptError, IndexFormatError, IndexNotFoundError, IndexStoreError

FORMAT_VERSION = 7
MANIFEST = "manifest.json"
SEGMENTS = "segments"
_MOST_COUNTED = 50
OTHER = "other"
Counts = dict[str, dict[str, int]]
"""Reason -> extension or name -> number."""


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """One segment of an index.

    Attributes:
        number: names its folder.
        source_files: files, the dead ones among them.
        documents: in its files, N, the dead ones among them.
        live_documents: those that are not dead.
        dead_files: file_ids whose documents no longer count, ascending.
        field_sums: terms of each field over the live documents, [F].
        field_counts: live documents in which each field is not empty, [F].
        files: path inside its folder -> `{"bytes": .., "sha256": ..}`.
    """

    number: int
    source_files: int
    documents: int
    live_documents: int
    dead_files: list[int]
    field_sums: list[int]
    field_counts: list[int]
    files: dict[str, dict[str, Any]]

    @property
    def folder(self) -> str:
        """Name of its folder, below the index's."""
        return segment_folder(self.number)


@dataclass(frozen=True, slots=True)
class Tally:
    """Files that are not in the index.

    Attributes:
        skipped: reason -> extension -> files.
        folders: reason -> name -> folders that were not entered.
        warnings: one line for each file or folder that a user may want to look at.
    """

    skipped: Counts = field(default_factory=dict)
    folders: Counts = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWith:
    """What an index was made with.

    Attributes:
        settings: the walk settings in force.
        options: those that were given as options, so that `index` without options repeats them.
        model: name, id, dim and folder of the model.
    """

    settings: dict[str, Any]
    options: dict[str, Any]
    model: dict[str, Any]

    @property
    def model_folder(self) -> Path:
        """Folder of the bundle that made the vectors; the shipped one has none recorded."""
        return Path(self.model["folder"]) if self.model.get("folder") else SHIPPED

    def walk_config(self) -> WalkConfig:
        """Return the walk settings in force."""
        return IndexOptions.of(self.settings).applied_to(WalkConfig())


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(MadeWith):
    """A committed state of an index.

    Attributes:
        root: the indexed folder, absolute.
        commit: counts the commits.
        complete: False while a first build goes on, segment by segment.
        config_digest: hash of every option and grammar that shaped the index.
        walked: what the walk passed over.
        parsed: what the parser refused.
        missing_grammars: language -> how many files have no parser.
        segments: oldest first.
    """

    root: str
    commit: int
    created: str
    config_digest: str
    documents: int
    source_files: int
    languages: dict[str, int]
    walked: Tally
    parsed: Tally
    missing_grammars: dict[str, int]
    seconds: float
    segments: list[SegmentEntry] = field(default_factory=list)
    complete: bool = True
    format: int = FORMAT_VERSION

    @property
    def bytes(self) -> int:
        """Size of all segments on disk."""
        return sum(file["bytes"] for segment in self.segments for file in segment.files.values())

    @property
    def not_indexed(self) -> Counts:
        """Reason -> extension -> number of files that are not in the index."""
        return {**self.walked.skipped, **self.parsed.skipped}

    @property
    def warnings(self) -> list[str]:
        """One line for each file or folder that a user may want to look at."""
        return [*self.walked.warnings, *self.parsed.warnings]


def read_earlier(index_folder: Path) -> MadeWith | None:
    """Read what an index was made with; None where there is no index of an earlier format."""
    try:
        read_manifest(index_folder)
        return None
    except IndexFormatError as error:
        if not error.is_older:
            return None
    except IndexStoreError:
        return None
    raw = json.loads((index_folder / MANIFEST).read_text("utf-8"))
    settings, usual = raw.get("settings", {}), json.loads(json.dumps(asdict(WalkConfig())))
    options = {name: value for name, value in settings.items() if value != usual.get(name)}
    return MadeWith(settings=settings, options=options, model=raw.get("model", {}))


def limited_counts(counters: Mapping[str, Counter[str]]) -> Counts:
    """Return the highest counts of each reason; what is beyond them is counted together, as `OTHER`."""
    return {reason: _limited(counter) for reason, counter in sorted(counters.items()) if counter.total()}


def _limited(counter: Counter[str]) -> dict[str, int]:
    ordered = sorted(((name, count) for name, count in counter.items() if count), key=lambda e: (-e[1], e[0]))
    rest = sum(count for _, count in ordered[_MOST_COUNTED:])
    return {**dict(ordered[:_MOST_COUNTED]), **({OTHER: rest} if rest else {})}


def segment_folder(number: int) -> str:
    """Name the folder of a segment, below the index's."""
    return f"{SEGMENTS}/{number:06d}"


def read_manifest(index_folder: Path) -> Manifest:
    """Read the committed manifest.

    Raises:
        IndexNotFoundError: nothing was committed there.
        IndexFormatError: another version wrote it.
        IndexCorruptError: it cannot be read as a manifest.
    """
    path = index_folder / MANIFEST
    try:
        raw = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise IndexNotFoundError(f"no index at {index_folder}: run `codesearch index FOLDER`") from None
    except (ValueError, OSError) as error:
        raise IndexCorruptError(path, f"cannot be read ({error})", "FOLDER") from None
    root = raw.get("root", "FOLDER") if isinstance(raw, dict) else "FOLDER"
    if not isinstance(raw, dict) or raw.get("format") != FORMAT_VERSION:
        found = raw.get("format") if isinstance(raw, dict) else None
        raise IndexFormatError(found, FORMAT_VERSION, root)
    try:
        return Manifest(
            **{
                **raw,
                "walked": Tally(**raw["walked"]),
                "parsed": Tally(**raw["parsed"]),
                "segments": [SegmentEntry(**entry) for entry in raw["segments"]],
            }
        )
    except (TypeError, KeyError) as error:
        raise IndexCorruptError(path, str(error), root) from None
