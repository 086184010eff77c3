"""A trained cross-encoder -> a bundle: `manifest.json`, `model.onnx`, `tokenizer.json`.

Inputs `input_ids` and `attention_mask`, int64 [B, T], padding last; output `logit`, float32 [B, 1]. Matrix products run
in int8; ONNX Runtime finds the scale of each input when it runs (dynamic quantization).
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import onnx

from codesearch.encoding.bundle import TOKENIZER
from codesearch.encoding.cross_encoder import MODEL
from exporters.bert import add_states
from exporters.bundle import write_manifest
from exporters.graph import GraphBuilder
from exporters.layers import float_mask, linear, weighted_sum
from training.pretrained import LICENCE, SOURCE
from training.reranker.model import CrossEncoder
from training.reranker.train import load_reranker


def write_cross_encoder(run: Path, out: Path, name: str) -> dict[str, Any]:
    """Export a trained run; return the manifest."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model, config = load_reranker(run)
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(run / TOKENIZER, out / TOKENIZER)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / MODEL
        onnx.save(cross_encoder_graph(model), path)
        quantize_dynamic(
            path,
            out / MODEL,
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
        )
    manifest = {
        "name": name,
        "architecture": "cross-encoder",
        "dtype": "int8",
        "layers": config.layers,
        "max_query_tokens": config.max_query_tokens,
        "max_tokens": config.max_tokens,
        "score_scale": config.score_scale,
        "licence": LICENCE,
        "source": f"{SOURCE}, fine-tuned",
        "metrics": json.loads((run / "log.jsonl").read_text("utf-8").splitlines()[-1]),
    }
    return write_manifest(out, manifest, (MODEL, TOKENIZER))


def cross_encoder_graph(model: CrossEncoder) -> onnx.ModelProto:
    """Write the graph in float32."""
    graph = GraphBuilder()
    mask = float_mask(graph)
    states = add_states(graph, model.bert, mask)
    count = graph.node("ReduceSum", mask, graph.ints(1), keepdims=1)
    mean = graph.node("Div", weighted_sum(graph, mask, states), count)
    logit = linear(graph, model.head, mean)
    graph.node("Identity", logit, output="logit")
    return graph.model("CrossEncoder", 1, output="logit")
