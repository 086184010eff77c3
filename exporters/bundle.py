"""A run -> a bundle folder: `manifest.json`, `query.onnx`, `document.onnx`, `tokenizer.json`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from codesearch.encoding.tokenizer import SubtokenTokenizer
from exporters.errors import ExportError
from exporters.onnx import Dtype, bag_graph
from training import checkpoint
from training.pipeline import load_run

FORMAT = 1
MANIFEST = "manifest.json"
FILES = ("query.onnx", "document.onnx", "tokenizer.json")
_PARTITION = "test"


def write_bundle(run: Path, out: Path, dtype: Dtype, name: str | None = None) -> dict[str, Any]:
    """Export a run's best weights; return the manifest.

    Raises:
        ExportError: the run was not evaluated, so that its figures are not known.
        TrainingError: the run has no weights.
    """
    figures = _figures(run)
    model, tokenizer, config = load_run(run)
    out.mkdir(parents=True, exist_ok=True)
    (out / "query.onnx").write_bytes(bag_graph(model.query, dtype).SerializeToString())
    (out / "document.onnx").write_bytes(bag_graph(model.document, dtype).SerializeToString())
    vocabulary = json.loads((run / checkpoint.TOKENIZER).read_text("utf-8"))
    compact = json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":"))
    (out / "tokenizer.json").write_text(compact + "\n", "utf-8")
    record = checkpoint.read_config(run)
    manifest = {
        "format": FORMAT,
        "name": name or f"{config.architecture}-{config.dim}-v1",
        "architecture": config.architecture,
        "dtype": dtype,
        "dim": config.dim,
        "vocabulary_size": tokenizer.vocabulary_size,
        "max_query_tokens": config.max_query_tokens,
        "max_document_tokens": config.max_document_tokens,
        "licence": "MIT",
        "trained_on": record["trained_on"],
        "data_hash": record["data_hash"],
        "metrics": {"mrr_999": figures["mrr_999"]},
        "files": {file: _described(out / file) for file in FILES},
    }
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return manifest


def check_bundle(bundle: Path) -> dict[str, Any]:
    """Read a manifest and compare the files with it; return the manifest.

    Raises:
        ExportError: a file is missing or differs, or the tokenizer does not fit the tables.
    """
    path = bundle / MANIFEST
    if not path.exists():
        raise ExportError(f"{path} is not there: run `python -m exporters bundle --out {bundle}`")
    manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
    for file, described in manifest["files"].items():
        if not (bundle / file).exists() or _described(bundle / file) != described:
            raise ExportError(f"{bundle / file} is not what {MANIFEST} says: export it again")
    size = SubtokenTokenizer.load(bundle / "tokenizer.json").vocabulary_size
    if size != manifest["vocabulary_size"]:
        raise ExportError(f"{bundle}: {size} tokens, expected {manifest['vocabulary_size']}: export it again")
    return manifest


def _figures(run: Path) -> dict[str, Any]:
    path = run / f"mrr_{_PARTITION}.json"
    if not path.exists():
        raise ExportError(f"{path} is not there: run `python -m training evaluate --run {run}` first")
    figures: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return figures


def _described(path: Path) -> dict[str, object]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
