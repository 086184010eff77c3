"""Nodes and arrays -> an ONNX graph, and its weights -> a smaller type.

A graph has inputs `input_ids` and `attention_mask`, int64 [B, T], and output `embedding`, float32 [B, D].
An initializer that may be stored in a smaller type is named `weight_N_axis_A`; each of its rows along axis A has a
scale. Only the storage changes. The arithmetic stays float32, so the embedding of a text does not depend on its batch
in a session from `codesearch.text.onnx.open_session`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
_IR_VERSION = 9
ROW_WEIGHTS = "row_weights"
_LEVELS = 127
_WEIGHT = re.compile(r"weight_\d+_axis_(\d)")


class GraphBuilder:
    """Collects nodes in the order in which they are added."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, values: Any, dtype: Any = np.float32, name: str = "") -> str:  # noqa: ANN401 - as numpy.
        """Add a constant; return its name."""
        name = name or f"constant_{len(self._arrays)}"
        self._arrays[name] = np.ascontiguousarray(values, dtype=dtype)
        return name

    def ints(self, *values: int) -> str:
        """Add a constant int64 vector."""
        return self.array(values, np.int64)

    def weight(self, values: Any, axis: int) -> str:  # noqa: ANN401 - as numpy.
        """Add an array that may be stored in a smaller type, with a scale for each slice of `axis`."""
        return self.array(values, name=f"weight_{len(self._arrays)}_axis_{axis}")

    def node(self, operation: str, *inputs: str, output: str = "", **attributes: Any) -> str:  # noqa: ANN401
        """Add a node of one output; return its name."""
        output = output or f"{operation}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operation, list(inputs), [output], **attributes))
        return output

    def model(self, name: str, dim: int) -> onnx.ModelProto:
        """Check the whole graph and return it; its output `embedding` is [B, dim]."""
        inputs = [
            helper.make_tensor_value_info(key, TensorProto.INT64, ["B", "T"])
            for key in ("input_ids", "attention_mask")
        ]
        result = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["B", dim])
        initializers = [numpy_helper.from_array(array, key) for key, array in self._arrays.items()]
        graph = helper.make_graph(self._nodes, name, inputs, [result], initializers)
        return checked(
            helper.make_model(
                graph,
                opset_imports=[helper.make_opsetid("", OPSET)],
                ir_version=_IR_VERSION,
                producer_name="exporters",
            )
        )


def checked(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model that passes ONNX's checker."""
    onnx.checker.check_model(model, full_check=True)
    return model


def with_dtype(model: onnx.ModelProto, dtype: str) -> onnx.ModelProto:
    """Store the weights of a float32 graph as `dtype`: "fp32", "fp16" or "int8" (symmetric, by row)."""
    if dtype == "fp32":
        return model
    smaller = onnx.ModelProto()
    smaller.CopyFrom(model)
    graph = smaller.graph
    gathered = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    for initializer in [tensor for tensor in graph.initializer if _WEIGHT.fullmatch(tensor.name)]:
        name, values = initializer.name, numpy_helper.to_array(initializer)
        if name in gathered:
            _shrink_table(graph, initializer, values, dtype)
        elif dtype == "fp16":
            initializer.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}_fp16"))
            _before(graph, name, [helper.make_node("Cast", [f"{name}_fp16"], [name], to=TensorProto.FLOAT)])
        else:
            axis = int(_WEIGHT.sub(r"\1", name))
            _quantize_weight(graph, initializer, values, axis)
    return checked(smaller)


def _quantize_weight(
    graph: onnx.GraphProto, initializer: onnx.TensorProto, values: NDArray[np.float32], axis: int
) -> None:
    name = initializer.name
    rows, scales = quantize_rows(np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1))
    moved = np.moveaxis(values, axis, 0).shape
    stored = np.ascontiguousarray(np.moveaxis(rows.reshape(moved), 0, axis))
    initializer.CopyFrom(numpy_helper.from_array(stored, f"{name}_int8"))
    graph.initializer.append(numpy_helper.from_array(scales, f"{name}_scales"))
    wide = helper.make_node("DequantizeLinear", [f"{name}_int8", f"{name}_scales"], [name], axis=axis)
    _before(graph, name, [wide])


def _shrink_table(
    graph: onnx.GraphProto, initializer: onnx.TensorProto, values: NDArray[np.float32], dtype: str
) -> None:
    """Gather rows of the small type and convert only these, so a table [V, D] is never in memory as float32.

    If a graph sums rows with weights, `ROW_WEIGHTS` [V], the scales are multiplied into these.
    """
    name = initializer.name
    (gather,) = (node for node in graph.node if node.op_type == "Gather" and node.input[0] == name)
    ids, vectors = gather.input[1], gather.output[0]
    gather.output[0] = f"{vectors}_{dtype}"
    place = list(graph.node).index(gather) + 1
    own = next((tensor for tensor in graph.initializer if tensor.name == ROW_WEIGHTS), None)
    scales = np.ones(len(values), np.float32)
    stored: NDArray[Any] = values.astype(np.float16)
    if dtype == "int8":
        stored, scales = quantize_rows(values)
    initializer.CopyFrom(numpy_helper.from_array(stored, name))
    is_scaled = dtype == "int8" and own is None
    wide = f"{vectors}_float" if is_scaled else vectors
    nodes = [helper.make_node("Cast", [gather.output[0]], [wide], to=TensorProto.FLOAT)]
    if is_scaled:
        graph.initializer.append(numpy_helper.from_array(scales[:, None], f"{name}_scales"))
        nodes.append(helper.make_node("Gather", [f"{name}_scales", ids], [f"{vectors}_scales"]))
        nodes.append(helper.make_node("Mul", [wide, f"{vectors}_scales"], [vectors]))
    elif own is not None:
        own.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(own) * scales, ROW_WEIGHTS))
    _insert(graph, place, nodes)


def _before(graph: onnx.GraphProto, name: str, nodes: list[onnx.NodeProto]) -> None:
    """Insert nodes before the first one that reads `name`."""
    place = next(number for number, node in enumerate(graph.node) if name in node.input)
    _insert(graph, place, nodes)


def _insert(graph: onnx.GraphProto, place: int, nodes: list[onnx.NodeProto]) -> None:
    after = list(graph.node)
    del graph.node[:]
    graph.node.extend([*after[:place], *nodes, *after[place:]])


def quantize_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Quantize each row [V, D] by its largest magnitude: int8 [V, D], and scales [V], 1 for a row of zeros."""
    scales = np.abs(table).max(axis=1) / _LEVELS
    scales[scales == 0] = 1
    rows = np.rint(table / scales[:, None]).astype(np.int8)
    return rows, scales.astype(np.float32)
