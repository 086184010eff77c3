"""The manifest: what a generation of an index holds, committed last.

    <home>/indexes/<name>-<hash>/
        manifest.json           names the current generation; written beside itself, synced, renamed
        lock                    held while a writer works
        generation-<n>/         never changed once the manifest names it
            documents.sqlite    files and documents (see `store`)
            rows/*.npy          one small number a document, for filters
            postings/*.npy      keyword half (see `postings`)
            vectors.int8 ...    semantic half (see `vectors`)

Format history: 1, the first; 2, terms without inflection, abbreviations spelled out, flags of documents.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from codesearch.config import WalkConfig
from codesearch.encoding.bundle import SHIPPED
from codesearch.errors import IndexCorruptError, IndexFormatError, IndexNotFoundError, IndexStoreError

FORMAT_VERSION = 4
"""2: keywords without inflection, abbreviations spelled out. 3: flags beside the rows, compounds taken apart.
4: the first paragraph of documentation counted again."""
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


def commit_manifest(index_folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the current one: whoever reads sees the old or the new, never a mixture."""
    text = json.dumps(asdict(manifest), indent=1, sort_keys=True)
    temporary = index_folder / f"{MANIFEST}.new"
    try:
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, index_folder / MANIFEST)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(index_folder)


def describe_files(generation: Path) -> dict[str, dict[str, Any]]:
    """Sync and hash every file of a generation, for its manifest."""
    described = {}
    for path in sorted(generation.rglob("*")):
        if path.is_file():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            described[path.relative_to(generation).as_posix()] = {
                "bytes": path.stat().st_size,
                "sha256": digest,
            }
    for folder in {generation, *(path.parent for path in generation.rglob("*"))}:
        sync_folder(folder)
    return described


def check_sizes(generation: Path, manifest: Manifest) -> None:
    """Check that every file is there at its size: cheap enough for each query.

    Raises:
        IndexCorruptError: one is not.
    """
    for name, entry in manifest.files.items():
        path = generation / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise IndexCorruptError(path, "missing", manifest.root) from None
        if size != entry["bytes"]:
            raise IndexCorruptError(path, f"{size} bytes, expected {entry['bytes']}", manifest.root)


def check_digests(generation: Path, manifest: Manifest) -> None:
    """Check every byte against the manifest: what `doctor` does.

    Raises:
        IndexCorruptError: a file was changed or is missing.
    """
    check_sizes(generation, manifest)
    for name, entry in manifest.files.items():
        check_digest(generation / name, entry, manifest.root)


def check_digest(path: Path, entry: Mapping[str, Any], root: str) -> None:
    """Check one file's bytes.

    Raises:
        IndexCorruptError: they differ from what the manifest says.
    """
    with open(path, "rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
            raise IndexCorruptError(path, "its bytes were changed", root)


def sync_folder(folder: Path) -> None:
    """Make renames inside a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise IndexStoreError(f"{folder}: {error.strerror}") from None
    finally:
        os.close(descriptor)
