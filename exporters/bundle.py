"""A run -> a bundle folder: `manifest.json`, `query.onnx`, `document.onnx` (or several), `tokenizer.json`."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from codesearch.text.bundle import (
    BUNDLE_FORMAT,
    DOCUMENT,
    MANIFEST,
    QUERY,
    TOKENIZER,
    load_bundle,
    read_manifest,
)
from codesearch.text.tokenizer import SubtokenTokenizer
from exporters.onnx import Dtype, graph_names, row_places, write_graphs
from training import checkpoint
from training.config import TrainConfig
from training.files import TrainingError, read_json
from training.pipeline import load_run
from training.pretrained import LICENCE, SOURCE

_PARTITION = "test"
_ORIGIN = {"licence": LICENCE, "source": f"{SOURCE}, fine-tuned"}


class _Figures(TypedDict, total=False):
    """MRR by language."""

    mrr_999: dict[str, float]
    mrr_full: dict[str, float]


_NEAREST = {
    "typescript": "javascript",
    "tsx": "javascript",
    "csharp": "java",
    "kotlin": "java",
    "scala": "java",
    "swift": "java",
    "rust": "go",
    "c": "go",
    "cpp": "java",
    "bash": "php",
    "lua": "javascript",
}
"""Languages without a code encoder -> the language whose names and comments are most similar."""


def write_bundle(run: Path, out: Path, dtype: Dtype, name: str | None = None) -> dict[str, Any]:
    """Export a run's best weights; return the manifest."""
    record, figures = checkpoint.read_config(run), _figures(run)
    model, tokenizer, config = load_run(run)
    files = write_graphs(model, out, dtype)
    languages = {} if model.is_one else _document_graphs(graph_names(model))
    tokenizer.add_languages(languages)
    tokenizer.save(out / TOKENIZER)
    vocabulary = json.loads((out / TOKENIZER).read_text("utf-8"))
    compact = json.dumps(vocabulary, ensure_ascii=False, separators=(",", ":"))
    (out / TOKENIZER).write_text(compact + "\n", "utf-8")
    rows = {file: places for file in files if (places := row_places(out / file))}
    vectors = config.initial_vectors
    manifest = {
        "format": BUNDLE_FORMAT,
        "name": name or default_name(config),
        "architecture": config.architecture,
        "dtype": dtype,
        "dim": config.dim,
        "vocabulary_size": tokenizer.vocabulary_size,
        "max_query_tokens": config.max_query_tokens,
        "max_document_tokens": config.max_document_tokens,
        **({"document_graph": QUERY} if model.is_one else {}),
        **({"document_graphs": languages} if languages else {}),
        **({"rows": rows} if rows else {}),
        **(_ORIGIN if config.architecture == "bert" else {"licence": "MIT", "initial_vectors": vectors}),
        "trained_on": record["trained_on"],
        "data_hash": record["data_hash"],
        "metrics": {**figures},
        "files": {file: _described(out / file) for file in (*files, TOKENIZER)},
    }
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    return manifest


def default_name(config: TrainConfig) -> str:
    """Name a bundle after its settings."""
    kind = "" if config.code_encoders == "shared" else f"-{config.code_encoders}"
    return f"{config.architecture}{kind}-{config.dim}-v1"


def check_bundle(bundle: Path) -> dict[str, Any]:
    """Read a manifest and compare the files with it; return the manifest."""
    load_bundle(bundle)
    manifest = read_manifest(bundle)
    size = SubtokenTokenizer.load(bundle / TOKENIZER).vocabulary_size
    if size != (expected := manifest.get("vocabulary_size")):
        raise TrainingError(f"{bundle}: {size} tokens, expected {expected}: export it again")
    return manifest


def _document_graphs(names: dict[str, str]) -> dict[str, str]:
    """Return the graph of each language that does not use `document.onnx`."""
    known = names | {language: names[near] for language, near in _NEAREST.items() if near in names}
    return {language: file for language, file in sorted(known.items()) if file != DOCUMENT}


def _figures(run: Path) -> _Figures:
    path = run / f"mrr_{_PARTITION}.json"
    cure = f"run `python -m training evaluate --run {run} --corpus FOLDER` first"
    figures = read_json(_Figures, path, cure)
    if not figures or any("average" not in values for values in figures.values()):
        raise TrainingError(f"{path}: no mean MRR: {cure}")
    return figures


def _described(path: Path) -> dict[str, object]:
    content = path.read_bytes()
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
