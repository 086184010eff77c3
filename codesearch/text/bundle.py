"""A model bundle on disk. Each of its files is verified before it is used.

manifest.json     see `Bundle`; sizes and sha256 of the other files
query.onnx        input_ids, attention_mask int64 [B, T] -> embedding float32 [B, D], unit length
document.onnx     the same for documents; document.LANGUAGE.onnx for languages with a separate graph
tokenizer.json    see `tokenizer`

If the manifest contains `"document_graph": "query.onnx"`, the bundle has one graph for queries and documents.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codesearch.errors import ModelBundleError
from codesearch.treefiles import read_regular

BUNDLE_FORMAT = 1
MANIFEST = "manifest.json"
QUERY, DOCUMENT, TOKENIZER = "query.onnx", "document.onnx", "tokenizer.json"
MODELS = Path(__file__).resolve().parent.parent / "models"
SHIPPED = MODELS / "nbow"
_MOST, _MOST_BYTES = 100_000, 10_000_000


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle; `checked` verifies one of its files."""

    folder: Path
    name: str
    architecture: str
    dim: int  # Length of an embedding, D.
    max_query_tokens: int  # Longer queries are cut.
    max_document_tokens: int  # Longer documents are cut.
    licence: str
    model_id: str  # 16 hex digits, a hash of the files' hashes; vectors of different ids are not comparable.
    # Language -> graph file, for languages that do not use `document_graph`. The tokenizer has a token [LANGUAGE] for
    # each of them, which is the first token of a document.
    document_graphs: dict[str, str] = field(default_factory=dict)
    document_graph: str = DOCUMENT  # The graph file for all other documents.
    # Graph file -> places of the arrays that `RowSum` needs; only for graphs that just add up rows.
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    # File -> sha256 that the manifest records, of all files but the manifest.
    digests: dict[str, str] = field(default_factory=dict)

    def checked(self, name: str) -> Path:
        """Return a file whose bytes are those that the manifest describes."""
        path = self.folder / name
        try:
            if path.exists() and not path.is_file():
                raise damaged(f"{path}: not a regular file")
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise damaged(f"{path}: {error.strerror}") from None
        if digest != self.digests[name]:
            raise damaged(f"{path}: sha256 differs from manifest.json, the file is damaged")
        return path


def recorded_folder(bundle: Path) -> str:
    """Return what an index records of a bundle's place; "" for the shipped model, because the package may move."""
    return "" if bundle.resolve() == SHIPPED.resolve() else str(bundle.resolve())


def load_bundle(folder: Path) -> Bundle:
    """Read a bundle's manifest and check every byte of its files."""
    bundle = read_bundle(folder)
    for name in bundle.digests:
        bundle.checked(name)
    return bundle


def read_bundle(folder: Path) -> Bundle:
    """Read a bundle's manifest."""
    manifest = read_manifest(folder)
    try:
        graphs = dict(manifest.get("document_graphs", {}))
        document = str(manifest.get("document_graph", DOCUMENT))
        files = dict.fromkeys((QUERY, document, TOKENIZER, *sorted({*graphs.values()})))
        digests = {name: _digest_of(folder, name, manifest) for name in files}
        return Bundle(
            folder=folder,
            name=str(manifest["name"]),
            architecture=str(manifest["architecture"]),
            dim=_count_in(manifest, "dim"),
            max_query_tokens=_count_in(manifest, "max_query_tokens"),
            max_document_tokens=_count_in(manifest, "max_document_tokens"),
            licence=str(manifest["licence"]),
            model_id=hashlib.sha256("".join(digests.values()).encode()).hexdigest()[:16],
            document_graphs=graphs,
            document_graph=document,
            rows=dict(manifest.get("rows", {})),
            digests=digests,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelBundleError(
            f"{folder}/manifest.json: no valid {error}", "export the model again"
        ) from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a bundle's manifest."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(read_regular(path, _MOST_BYTES)[0])
    except FileNotFoundError:
        raise ModelBundleError(
            f"{folder}: no model bundle there",
            "name its folder with --model; `index --rebuild` forgets a folder that an index remembers",
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(f"{path}: cannot be read ({error})") from None
    if not isinstance(manifest, dict):
        raise damaged(f"{path}: not a bundle manifest")
    if manifest.get("format") != BUNDLE_FORMAT:
        raise ModelBundleError(
            f"{folder}: model bundle format {manifest.get('format')}, expected {BUNDLE_FORMAT}",
            "use a bundle made for this version",
        )
    return manifest


def damaged(problem: str) -> ModelBundleError:
    """Return the error for a bundle that was valid when it was installed or exported."""
    return ModelBundleError(problem, "install or export the model again")


def _count_in(manifest: dict[str, Any], name: str) -> int:
    """Return a number of the manifest that must be possible: 1 to `_MOST`."""
    value = manifest[name]
    if type(value) is not int or not 1 <= value <= _MOST:
        raise ValueError(name)
    return value


def _digest_of(folder: Path, name: str, manifest: dict[str, Any]) -> str:
    if Path(name).name != name:
        raise damaged(f"{folder}/manifest.json: {name!r} is not in its folder")
    try:
        return str(manifest["files"][name]["sha256"])
    except (KeyError, TypeError):
        raise damaged(f"{folder}/manifest.json: no sha256 of {name}") from None
