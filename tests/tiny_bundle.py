"""A model bundle small enough to make in a test: gather, masked mean, unit length."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np

VOCABULARY, DIM = 1000, 32
FILES = ("query.onnx", "document.onnx", "tokenizer.json")


def write_bundle(folder: Path, tokenizer_path: Path, seed: int = 0, dim: int = DIM) -> Path:
    """Write both graphs, over one table of random token vectors, the tokenizer and the manifest."""
    folder.mkdir(parents=True)
    table = np.random.default_rng(seed).standard_normal((VOCABULARY, dim)).astype(np.float32)
    for name in ("query.onnx", "document.onnx"):
        (folder / name).write_bytes(_graph(table))
    shutil.copy(tokenizer_path, folder / "tokenizer.json")
    manifest = {
        "format": 1,
        "name": "tiny",
        "architecture": "bag of random vectors",
        "dim": dim,
        "max_query_tokens": 32,
        "max_document_tokens": 200,
        "licence": "MIT",
    }
    return write_manifest(folder, manifest)


def write_manifest(folder: Path, manifest: dict[str, object]) -> Path:
    """Write the manifest of a bundle with the size and hash of its files."""
    files = {name: (folder / name).read_bytes() for name in FILES}
    described = {n: {"bytes": len(b), "sha256": hashlib.sha256(b).hexdigest()} for n, b in files.items()}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": described}, indent=1))
    return folder


def change_one_byte(path: Path, position: int = -1, bits: int = 0xFF) -> None:
    """Flip bits of one byte, by default all of the middle one."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2 if position < 0 else position] ^= bits
    path.write_bytes(content)


def _graph(table: np.ndarray) -> bytes:
    from onnx import TensorProto, helper, numpy_helper

    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["vectors"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["mask3"]),
        helper.make_node("Mul", ["vectors", "mask3"], ["masked"]),
        helper.make_node("ReduceSum", ["masked", "first"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "first"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("LpNormalization", ["mean"], ["embedding"], axis=-1, p=2),
    ]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", table.shape[1]])
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "first"),
    ]
    graph = helper.make_graph(nodes, "bag", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()
