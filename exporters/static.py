"""A bundle of a bag -> a folder for `model2vec` and `sentence-transformers`.

    query/, document/    `config.json`, `model.safetensors` and `tokenizer.json`, each a static model of model2vec
    modules.json         and router_config.json: both as one model of sentence-transformers
    README.md            model card

The rows stay int8. `weights` has the weight of each token, with the scale of its row, so the vectors are those of the
bundle. Splitting identifiers is part of `tokenizer.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import MissingExtraError
from codesearch.text.bundle import DOCUMENT, QUERY, TOKENIZER, read_manifest
from exporters.card import model_card
from exporters.errors import ExportError

SIDES = {"query": QUERY, "document": DOCUMENT}
_CASE_CHANGE = "(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_SUBTOKEN = r"[^\W\d_]+|\d+"
_MODULES = "sentence_transformers.models"
_NORMALIZE = {"idx": 1, "name": "1", "path": "1_Normalize", "type": f"{_MODULES}.Normalize"}


def write_static(bundle: Path, out: Path) -> dict[str, Any]:
    """Write the folder; return the manifest of the bundle.

    Raises:
        ExportError: a static model cannot compute what the bundle does.
        MissingExtraError: safetensors is not installed.
        ModelBundleError: there is no bundle.
    """
    manifest = read_manifest(bundle)
    _require_static(bundle, manifest)
    for side, file in SIDES.items():
        limit = manifest[f"max_{side}_tokens"]
        _write_side(out / side, *_arrays(bundle / file, manifest["rows"][file]), bundle / TOKENIZER, limit)
    _write_json(out / "modules.json", [_module("Router"), _NORMALIZE])
    router = {
        "types": dict.fromkeys(SIDES, f"{_MODULES}.StaticEmbedding"),
        "structure": {side: [side] for side in SIDES},
        "parameters": {"default_route": "document", "allow_empty_key": True},
    }
    _write_json(out / "router_config.json", router)
    (out / "README.md").write_text(model_card(manifest), "utf-8")
    return manifest


def _require_static(bundle: Path, manifest: dict[str, Any]) -> None:
    rows = manifest.get("rows", {})
    reason = ""
    if set(SIDES.values()) - rows.keys() or manifest.get("document_graphs"):
        reason = f"{manifest['architecture']} is not one weighted sum of rows for each side"
    elif any(rows[file].get("repeat_power") for file in SIDES.values()):
        reason = "repeated tokens count less, and a static model counts each: train with --count-power 1"
    if reason:
        raise ExportError(f"{bundle}: no static model: {reason}")


def _arrays(graph: Path, places: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Read the table [V, D] and the weights [V] of a graph."""
    table, weights = (
        np.array(np.memmap(graph, place["dtype"], "r", place["offset"], tuple(place["shape"])))
        for place in (places["table"], places["weights"])
    )
    return table, weights


def _write_side(
    folder: Path, table: NDArray[Any], weights: NDArray[np.float32], tokenizer: Path, limit: int
) -> None:
    try:
        from safetensors.numpy import save_file
    except ModuleNotFoundError:
        raise MissingExtraError("safetensors") from None
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"embeddings": table, "weights": weights}, folder / "model.safetensors")
    _write_json(folder / TOKENIZER, _whole_tokenizer(json.loads(tokenizer.read_text("utf-8")), limit))
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "normalize": True,
        "max_length": limit,
        "hidden_dim": table.shape[1],
        "embedding_dtype": str(table.dtype),
    }
    _write_json(folder / "config.json", config)
    _write_json(folder / "modules.json", [_module("StaticEmbedding"), _NORMALIZE])


def _whole_tokenizer(state: dict[str, Any], limit: int) -> dict[str, Any]:
    """Add what `SubtokenTokenizer` does before the library's tokenizer: split at case changes, and make lower case.

    Unknown characters are left out, because model2vec leaves them out too.
    """
    case = {"type": "Replace", "pattern": {"Regex": _CASE_CHANGE}, "content": " "}
    split = {"type": "Split", "pattern": {"Regex": _SUBTOKEN}, "behavior": "Removed", "invert": True}
    cut = {"direction": "Right", "max_length": limit, "strategy": "LongestFirst", "stride": 0}
    return state | {
        "normalizer": {"type": "Sequence", "normalizers": [case, {"type": "Lowercase"}]},
        "pre_tokenizer": split,
        "truncation": cut,
        "model": state["model"] | {"unk_token": None},
    }


def _module(kind: str) -> dict[str, object]:
    return {"idx": 0, "name": "0", "path": "", "type": f"{_MODULES}.{kind}"}


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")
