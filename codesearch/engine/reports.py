"""Reports of the engine about indexes and the installation. A query needs none of them, only those in `answer`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.engine.answer import Changes


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What `Engine.index` did.

    Attributes:
        root: the folder as it was named.
        built: False if the index was up to date and nothing was written.
        documents: in the index.
        files: source files in the index.
        languages: language -> documents.
        not_indexed: reason -> extension -> files that are not in the index.
        folders_not_entered: reason -> name -> folders.
        warnings: one line each.
        missing_grammars: language -> files that no installed grammar can parse.
        parsed: files that were new or changed.
        kept: files that did not change.
        removed: files that are gone.
        embedded: texts that went through the model.
        cached: texts whose vector came from the cache.
        model: name of the model; "" if nothing was written.
        device: where the model ran.
        was_earlier_format: whether an earlier version wrote the last index, so all files were indexed again.
        seconds: wall time.
    """

    root: Path
    built: bool
    documents: int
    files: int
    seconds: float
    languages: dict[str, int] = field(default_factory=dict)
    not_indexed: dict[str, dict[str, int]] = field(default_factory=dict)
    folders_not_entered: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    missing_grammars: dict[str, int] = field(default_factory=dict)
    parsed: int = 0
    kept: int = 0
    removed: int = 0
    embedded: int = 0
    cached: int = 0
    model: str = ""
    device: str = ""
    was_earlier_format: bool = False


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """One index of a home. If it cannot be read, only `folder` and `error` are set.

    Attributes:
        folder: the folder of the index.
        error: why it cannot be read; "" if it can.
        root: the indexed folder.
        documents: in the index.
        files: source files in the index.
        languages: language -> documents.
        not_indexed: reason -> extension -> files that are not in the index.
        folders_not_entered: reason -> name -> folders.
        warnings: of the last run, one line each.
        bytes: size on disk.
        created: when the last run committed, in ISO 8601.
        seconds: wall time of the last run.
        model: name, id and folder of its model.
        settings: walk settings of the last run.
        changes: what an update would do; None unless asked for.
        has_sources: False if the index was imported without its folder; then `root` is a name.
        has_code: whether the index contains its source files.
    """

    folder: Path
    error: str = ""
    root: str = ""
    documents: int = 0
    files: int = 0
    languages: dict[str, int] = field(default_factory=dict)
    not_indexed: dict[str, dict[str, int]] = field(default_factory=dict)
    folders_not_entered: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    bytes: int = 0
    created: str = ""
    seconds: float = 0.0
    model: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    changes: Changes | None = None
    has_sources: bool = True
    has_code: bool = False


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote.

    Attributes:
        file: the file.
        roots: the indexed folders.
        documents: in all of them.
        files: source files in all of them.
        changed: files that changed after they were indexed; their documents have no code.
        missing: files that are gone or cannot be read; their documents have no code.
        bytes: size of the file.
        seconds: wall time.
    """

    file: Path
    roots: tuple[str, ...]
    documents: int
    files: int
    changed: int
    missing: int
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What `Engine.import_index` did.

    Attributes:
        root: the folder with the sources, or the name of the index.
        has_sources: False if `root` is a name.
        has_code: whether the index contains its source files.
        documents: in the index.
        files: source files in the index.
        created: when the index was made, in ISO 8601.
        seconds: wall time.
    """

    root: str
    has_sources: bool
    has_code: bool
    documents: int
    files: int
    created: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `Engine.verify`.

    Attributes:
        name: what was checked.
        state: "ok", "none" (an optional part is absent) or "FAIL".
        detail: what was found, and the cure of a failure.
    """

    name: str
    state: str
    detail: str
