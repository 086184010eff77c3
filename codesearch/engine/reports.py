"""Reports of the engine about indexes and the installation. A query needs none of them, only those in `answer`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from codesearch.engine.answer import Changes
from codesearch.store.catalogue import Building
from codesearch.store.manifest import Counts, Manifest, Tally

_UNREADABLE = Manifest(
    settings={},
    options={},
    model={},
    root="",
    commit=0,
    created="",
    config_digest="",
    documents=0,
    source_files=0,
    languages={},
    walked=Tally(),
    parsed=Tally(),
    missing_grammars={},
    seconds=0.0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OfIndex:
    """A report about an index."""

    manifest: Manifest  # It also has the settings, the model, the size and the time.

    @property
    def documents(self) -> int:
        """Number of documents in the index."""
        return self.manifest.documents

    @property
    def files(self) -> int:
        """Number of source files in the index."""
        return self.manifest.source_files

    @property
    def languages(self) -> dict[str, int]:
        """Language -> documents."""
        return self.manifest.languages

    @property
    def not_indexed(self) -> Counts:
        """Reason -> extension -> files that are not in the index, or only as blocks of lines."""
        return self.manifest.not_indexed

    @property
    def folders_not_entered(self) -> Counts:
        """Reason -> name -> folders."""
        return self.manifest.walked.folders

    @property
    def warnings(self) -> list[str]:
        """Warnings of the last run, one line each."""
        return self.manifest.warnings


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport(OfIndex):
    """What `Engine.index` did."""

    root: Path  # The folder as it was named.
    built: bool  # False if the index was up to date and nothing was written.
    seconds: float  # Wall time.
    parsed: int = 0  # Files that were new or changed.
    kept: int = 0  # Files that did not change.
    removed: int = 0  # Files that are gone.
    embedded: int = 0  # Texts that went through the model.
    model: str = ""  # Name of the model; "" if nothing was written.
    device: str = ""  # Where the model ran.
    # Whether an earlier version wrote the last index, so all files were indexed again.
    was_earlier_format: bool = False
    # Whether the index is new and started with the documents of a similar folder's index.
    seeded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus(OfIndex):
    """One index of a home. If it cannot be read, only `folder` and `error` are set."""

    folder: Path  # The folder of the index.
    error: str = ""  # Why it cannot be read; "" if it can.
    manifest: Manifest = _UNREADABLE
    changes: Changes | None = None  # What an update would do; None if that was not asked for.
    unchecked: str = ""  # Why that is not known, although it was asked for; "" otherwise.
    # The process that makes the first index now; None if none does. There may be no manifest yet.
    building: Building | None = None

    @property
    def root(self) -> str:
        """The indexed folder, or the name of an index that was imported without it."""
        return self.building.root if self.building else self.manifest.root

    @property
    def unfinished(self) -> str:
        """How far a first index is, and who makes it; "" if it is complete."""
        if self.error or (self.building is None and self.manifest.complete):
            return ""
        indexed = f"{self.manifest.percent}% of its files are indexed; " if self.manifest.commit else ""
        interrupted = "the first index was interrupted: run `codesearch index` again"
        return indexed + (self.building.text if self.building else interrupted)


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `Engine.verify`."""

    name: str  # What was checked.
    state: str  # "ok", "none" (an optional part is absent) or "FAIL".
    detail: str  # What was found, and the cure of a failure.
