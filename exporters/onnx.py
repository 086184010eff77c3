"""One side of a bag encoder -> an ONNX graph, written node by node.

Inputs `input_ids` and `attention_mask`, int64 [B, T]; output `embedding`, float32 [B, D] of unit length, zeros for
a text without tokens. A row's scale is folded into its token's weight, so int8 rows cost one cast.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from exporters.quantize import quantize_rows
from training.encoders.nbow import BagTower

Dtype = Literal["int8", "fp32"]
OPSET = 17
_IR_VERSION = 9
_EPSILON = 1e-12


def bag_graph(tower: BagTower, dtype: Dtype) -> onnx.ModelProto:
    """Write the graph of one side of an NBoW encoder."""
    table = tower.table.weight.detach().numpy().astype(np.float32)
    weights = np.exp(tower.log_weight.detach().numpy()[:, 0]).astype(np.float32)
    if dtype == "int8":
        rows, scales = quantize_rows(table)
        return _model(rows, weights * scales)
    return _model(table, weights)


def _model(rows: NDArray[np.int8] | NDArray[np.float32], weights: NDArray[np.float32]) -> onnx.ModelProto:
    vocabulary_size, dim = rows.shape
    initializers = {
        "rows": rows,
        "weights": weights,
        "axis_1": np.array([1], dtype=np.int64),
        "epsilon": np.array(_EPSILON, dtype=np.float32),
    }
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "T"])
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["B", dim])
    graph = helper.make_graph(
        _nodes(),
        f"bag_{vocabulary_size}_{dim}",
        inputs,
        [output],
        [numpy_helper.from_array(array, name) for name, array in initializers.items()],
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_IR_VERSION,
        producer_name="exporters",
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _nodes() -> list[onnx.NodeProto]:
    node = helper.make_node
    return [
        node("Gather", ["rows", "input_ids"], ["token_rows"]),
        node("Cast", ["token_rows"], ["vectors"], to=TensorProto.FLOAT),  # [B, T, D]
        node("Gather", ["weights", "input_ids"], ["token_weights"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Mul", ["token_weights", "mask"], ["masked"]),
        node("Unsqueeze", ["masked", "axis_1"], ["left"]),  # [B, 1, T]
        node("MatMul", ["left", "vectors"], ["pooled"]),  # [B, 1, D]
        node("Squeeze", ["pooled", "axis_1"], ["sums"]),
        node("ReduceL2", ["sums"], ["length"], axes=[1], keepdims=1),
        node("Max", ["length", "epsilon"], ["divisor"]),
        node("Div", ["sums", "divisor"], ["embedding"]),
    ]
