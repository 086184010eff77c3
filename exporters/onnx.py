"""One side of an encoder -> an ONNX graph, written node by node.

Inputs `input_ids` and `attention_mask`, int64 [B, T], padding last; output `embedding`, float32 [B, D] of unit
length, zeros for a text without tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import onnx
from onnx import helper, numpy_helper
from torch import nn

from codesearch.text.bundle import DOCUMENT, QUERY
from exporters.graph import ROW_WEIGHTS, GraphBuilder, with_dtype
from exporters.layers import (
    add_body,
    add_pooling,
    attention_layers,
    by_count,
    first_positions,
    float_mask,
    norm,
    term_counts,
    unit_length,
    values,
    weighted_sum,
)
from training.encoders.bag import BagTower
from training.encoders.bert import Bert
from training.encoders.joint import SHARED, JointEncoder, SequenceTower
from training.encoders.ncs import NcsTower

Dtype = Literal["fp32", "fp16", "int8"]
_ADDS_ROWS = ["Div", "Gather", "Gather", "MatMul", "Max", "Mul", "ReduceL2", "Squeeze", "Unsqueeze"]
_DAMPENS_REPEATS = sorted(
    [*_ADDS_ROWS, "Equal", "MatMul", "Max", "Mul", "Pow", "Squeeze", "Unsqueeze", "Unsqueeze", "Unsqueeze"]
)
"""The operations, sorted, of graphs that `codesearch.text.onnx.RowSum` can compute too."""


def tower_graph(tower: nn.Module, dtype: Dtype = "fp32") -> onnx.ModelProto:
    """Write the graph of one side."""
    graph, kind = GraphBuilder(), type(tower)
    writers: dict[type, Callable[..., str]] = {
        BagTower: _bag,
        SequenceTower: _sequence,
        Bert: _bert,
        NcsTower: _ncs,
    }
    if kind not in writers:
        raise TypeError(f"no ONNX form of {kind.__name__}")
    table = values(tower.unit_table() if isinstance(tower, NcsTower) else tower.table.weight)
    vectors = graph.node("Gather", graph.weight(table, axis=0), "input_ids")
    pooled = writers[kind](graph, tower, vectors, float_mask(graph))
    unit_length(graph, pooled, output="embedding")
    size, dim = table.shape
    return with_dtype(graph.model(f"{kind.__name__}_{size}_{dim}", dim), dtype)


def _bag(graph: GraphBuilder, tower: BagTower, vectors: str, mask: str) -> str:
    table = graph.array(values(tower.token_weights(tower.table.weight)), name=ROW_WEIGHTS)
    weights = graph.node("Mul", graph.node("Gather", table, "input_ids"), mask)
    return weighted_sum(graph, by_count(graph, weights, mask, tower.count_power), vectors)


def _ncs(graph: GraphBuilder, tower: NcsTower, vectors: str, mask: str) -> str:
    if tower.idf is None:
        return weighted_sum(graph, mask, vectors)
    tf = term_counts(graph, mask)
    share = graph.node("Div", graph.node("Add", graph.node("Log", tf), graph.array(1)), tf)
    idf = graph.node("Gather", graph.array(values(tower.idf)), "input_ids")
    return weighted_sum(graph, graph.node("Mul", graph.node("Mul", share, mask), idf), vectors)


def _sequence(graph: GraphBuilder, tower: SequenceTower, vectors: str, mask: str) -> str:
    states = add_body(graph, tower.body, vectors, mask)
    return add_pooling(graph, tower.pool, states, mask)


def _bert(graph: GraphBuilder, model: Bert, vectors: str, mask: str) -> str:
    placed = graph.node("Add", vectors, first_positions(graph, values(model.positions)))
    states = attention_layers(graph, model.layers, norm(graph, model.norm, placed), mask)
    return weighted_sum(graph, mask, states)


def graph_names(model: JointEncoder) -> dict[str, str]:
    """Return the file of each document encoder; the first of several also serves all other languages."""
    if model.is_one:
        return {SHARED: QUERY}
    names = list(model.documents)
    return {name: f"document.{name}.onnx" if number else DOCUMENT for number, name in enumerate(names)}


def write_graphs(model: JointEncoder, out: Path, dtype: Dtype) -> list[str]:
    """Write a graph for each side of an encoder; return the names of the files."""
    out.mkdir(parents=True, exist_ok=True)
    (out / QUERY).write_bytes(tower_graph(model.query, dtype).SerializeToString())
    names = graph_names(model)
    others = {name: file for name, file in names.items() if file != QUERY}
    for name, file in others.items():
        (out / file).write_bytes(tower_graph(model.documents[name], dtype).SerializeToString())
    return [QUERY, *others.values()]


def row_places(path: Path) -> dict[str, Any]:
    """Return where a graph's file has the rows and weights; an empty dict unless it only sums rows with weights.

    If each of n occurrences of a token has the weight n ** `repeat_power`, that is in it too.
    """
    content = path.read_bytes()
    graph = onnx.load_from_string(content).graph
    arrays = {array.name: array for array in graph.initializer}
    operations = sorted(node.op_type for node in graph.node if node.op_type != "Cast")
    if operations not in (_ADDS_ROWS, _DAMPENS_REPEATS) or ROW_WEIGHTS not in arrays:
        return {}
    power = sum(
        float(numpy_helper.to_array(arrays[node.input[1]]).item())
        for node in graph.node
        if node.op_type == "Pow"
    )
    (table,) = (
        node.input[0] for node in graph.node if node.op_type == "Gather" and node.input[0] != ROW_WEIGHTS
    )
    places: dict[str, Any] = {
        key: {
            "offset": content.index(arrays[name].raw_data),
            "dtype": str(helper.tensor_dtype_to_np_dtype(arrays[name].data_type)),
            "shape": list(arrays[name].dims),
        }
        for key, name in (("table", table), ("weights", ROW_WEIGHTS))
    }
    return {**places, "repeat_power": power} if power else places
