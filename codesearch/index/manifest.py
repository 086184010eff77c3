"""The manifest: what a generation of an index holds, committed last.

    <home>/indexes/<name>-<hash>/
        manifest.json           names the current generation; written beside itself, synced, renamed
        lock                    held while a writer works
        generation-<n>/         never changed once the manifest names it
            documents.sqlite    files and documents (see `store`)
            rows/*.npy          one small number a document, for filters
            postings/*.npy      keyword half (see `postings`)
            vectors.int8 ...    semantic half (see `vectors`)

Format history:
    1   the first
    2   terms without inflection, abbreviations spelled out
    3   flags of documents beside the rows, compounds taken apart
    4   the first paragraph of documentation counted again
    5   flags of tests and of vendored code, beside those of generated code and stubs
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.config import WalkConfig
from codesearch.encoding.bundle import SHIPPED
from codesearch.errors import IndexCorruptError, IndexFormatError, IndexNotFoundError

FORMAT_VERSION = 5
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One committed generation.

    Attributes:
        root: the indexed folder, absolute.
        config_digest: hash of every option and grammar that shaped the index.
        settings: the options as given, so that `index` without options repeats them.
        files: path inside the generation -> `{"bytes": .., "sha256": ..}`.
    """

    root: str
    generation: int
    created: str
    config_digest: str
    settings: dict[str, Any]
    model: dict[str, Any]
    documents: int
    source_files: int
    languages: dict[str, int]
    skipped: dict[str, int]
    warnings: list[str]
    seconds: float
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    format: int = FORMAT_VERSION

    @property
    def folder(self) -> str:
        """Name of the generation's folder."""
        return generation_folder(self.generation)

    @property
    def model_folder(self) -> Path:
        """Folder of the bundle that made the vectors; the shipped one has none recorded."""
        return Path(self.model["folder"]) if self.model["folder"] else SHIPPED

    def walk_config(self) -> WalkConfig:
        """Return the walk options that the index was made with."""
        return WalkConfig(**{**self.settings, "exclude": tuple(self.settings["exclude"])})


def generation_folder(generation: int) -> str:
    """Name the folder of a generation."""
    return f"generation-{generation:06d}"


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
        return Manifest(**raw)
    except TypeError as error:
        raise IndexCorruptError(path, str(error), root) from None
