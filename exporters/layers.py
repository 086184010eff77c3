"""Bodies and poolings of `training` -> ONNX nodes, in the same order of operations as their `forward`."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto
from torch import Tensor, nn

from exporters.graph import GraphBuilder
from training.encoders.birnn import DIRECTIONS, BirnnBody
from training.encoders.cnn import CnnBody
from training.encoders.joint import Positions, Stack
from training.encoders.selfatt import SelfAttentionBody, SelfAttentionLayer
from training.pooling import MASKED, AttentionPooling, MeanPooling, SigmoidPooling, TokenWeightPooling

EPSILON = 1e-12


def values(tensor: Tensor) -> NDArray[np.float32]:
    """Return a parameter as float32."""
    array: NDArray[np.float32] = tensor.detach().cpu().numpy().astype(np.float32)
    return array


def float_mask(graph: GraphBuilder) -> str:
    """Add the mask as float32 [B, T]."""
    return graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)


def masked_scores(graph: GraphBuilder, mask: str) -> str:
    """Add 0 for tokens and `MASKED` for padding: float32 [B, T]."""
    absent = graph.node("Sub", graph.array(1), mask)
    return graph.node("Mul", absent, graph.array(MASKED))


def unit_length(graph: GraphBuilder, vectors: str, output: str = "") -> str:
    """Scale the last axis to unit length; zeros stay zeros."""
    length = graph.node("ReduceL2", vectors, axes=[-1], keepdims=1)
    divisor = graph.node("Max", length, graph.array(EPSILON))
    return graph.node("Div", vectors, divisor, output=output)


def weighted_sum(graph: GraphBuilder, weights: str, states: str) -> str:
    """Add the sum of states [B, T, D] with weights [B, T]: [B, D]."""
    axis = graph.ints(1)
    product = graph.node("MatMul", graph.node("Unsqueeze", weights, axis), states)
    return graph.node("Squeeze", product, axis)


def add_pooling(graph: GraphBuilder, pooling: nn.Module, states: str, mask: str) -> str:
    """Add a pooling [B, T, D] -> [B, D]; a sum replaces the mean of `forward`, because unit length follows."""
    if isinstance(pooling, MeanPooling):
        return weighted_sum(graph, mask, states)
    if isinstance(pooling, AttentionPooling):
        column = graph.array(values(pooling.attention)[:, None])
        scores = graph.node("Squeeze", graph.node("MatMul", states, column), graph.ints(2))
        if isinstance(pooling, SigmoidPooling):
            return weighted_sum(graph, graph.node("Mul", graph.node("Sigmoid", scores), mask), states)
        shares = graph.node("Softmax", graph.node("Add", scores, masked_scores(graph, mask)), axis=1)
        return weighted_sum(graph, graph.node("Mul", shares, mask), states)
    if isinstance(pooling, TokenWeightPooling):
        table = graph.array(np.exp(values(pooling.log_weight))[:, 0])
        weights = graph.node("Mul", graph.node("Gather", table, "input_ids"), mask)
        return weighted_sum(graph, by_count(graph, weights, mask, pooling.count_power), states)
    raise TypeError(f"no ONNX form of {type(pooling).__name__}")


def by_count(graph: GraphBuilder, weights: str, mask: str, power: float) -> str:
    """Scale weights [B, T] so that equal tokens together count as their number to a power."""
    if power == 1:
        return weights
    return graph.node("Mul", weights, graph.node("Pow", term_counts(graph, mask), graph.array(power - 1)))


def term_counts(graph: GraphBuilder, mask: str) -> str:
    """Count how often each token occurs in its text: [B, T], at least 1."""
    left, right = (graph.node("Unsqueeze", "input_ids", graph.ints(axis)) for axis in (2, 1))
    same = graph.node("Cast", graph.node("Equal", left, right), to=TensorProto.FLOAT)  # [B, T, T]
    column = graph.node("Unsqueeze", mask, graph.ints(2))
    counts = graph.node("Squeeze", graph.node("MatMul", same, column), graph.ints(2))
    return graph.node("Max", counts, graph.array(1))


def add_body(graph: GraphBuilder, body: nn.Module, states: str, mask: str) -> str:
    """Add a body [B, T, D] -> [B, T, D]."""
    if isinstance(body, Stack):
        for part in body.bodies:
            states = add_body(graph, part, states, mask)
        return states
    writers = {Positions: _positions, CnnBody: _cnn, BirnnBody: _birnn, SelfAttentionBody: _self_attention}
    if type(body) not in writers:
        raise TypeError(f"no ONNX form of {type(body).__name__}: add a function to exporters/layers.py")
    return writers[type(body)](graph, body, states, mask)


def _positions(graph: GraphBuilder, body: Positions | SelfAttentionBody, states: str, mask: str) -> str:
    return graph.node("Add", states, first_positions(graph, values(body.positions)))


def _cnn(graph: GraphBuilder, body: CnnBody, states: str, mask: str) -> str:
    present = graph.node("Unsqueeze", mask, graph.ints(2))
    for layer in body.layers:
        states = graph.node("Mul", states, present)
        turned = graph.node("Transpose", states, perm=[0, 2, 1])
        kernel, bias = graph.weight(values(layer.weight), axis=0), graph.array(values(layer.bias))
        seen = graph.node("Tanh", graph.node("Conv", turned, kernel, bias, pads=body.beyond))
        states = graph.node("Add", states, graph.node("Transpose", seen, perm=[0, 2, 1]))
    return states


def _birnn(graph: GraphBuilder, body: BirnnBody, states: str, mask: str) -> str:
    gru = body.gru
    tokens = graph.node("ReduceSum", "attention_mask", graph.ints(1), keepdims=0)
    lengths = graph.node("Cast", graph.node("Max", tokens, graph.array(1, np.int64)), to=TensorProto.INT32)
    read = states
    for layer in range(gru.num_layers):
        turned = graph.node("Transpose", read, perm=[1, 0, 2])  # [T, B, D]
        weights = [_gru_weight(graph, gru, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh")]
        bias = graph.array(_gru_bias(gru, layer))
        both = graph.node(
            "GRU",
            turned,
            *weights,
            bias,
            lengths,
            direction="bidirectional",
            hidden_size=gru.hidden_size,
            linear_before_reset=1,
        )
        read = graph.node("Reshape", graph.node("Transpose", both, perm=[2, 0, 1, 3]), graph.ints(0, 0, -1))
    return graph.node("Add", states, linear(graph, body.out, read))


def _gru_weight(graph: GraphBuilder, gru: nn.GRU, name: str) -> str:
    """Add a weight of both directions, [2, 3H, I]."""
    rows = np.concatenate([_zrn(values(getattr(gru, name + end))) for end in DIRECTIONS])
    shape = graph.ints(2, rows.shape[0] // 2, rows.shape[1])
    return graph.node("Reshape", graph.weight(rows, axis=0), shape)


def _gru_bias(gru: nn.GRU, layer: int) -> NDArray[np.float32]:
    """Return the biases of inputs, then of states, for both directions: [2, 6H]."""
    return np.stack(
        [
            np.concatenate(
                [_zrn(values(getattr(gru, f"{name}_l{layer}{end}"))) for name in ("bias_ih", "bias_hh")]
            )
            for end in DIRECTIONS
        ]
    )


def _zrn(gates: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn torch's order of gates (reset, update, new) into that of ONNX (update, reset, new)."""
    reset, update, new = np.split(gates, 3)
    return np.concatenate([update, reset, new])


def _self_attention(graph: GraphBuilder, body: SelfAttentionBody, states: str, mask: str) -> str:
    return attention_layers(graph, body.layers, _positions(graph, body, states, mask), mask)


def attention_layers(
    graph: GraphBuilder, layers: Iterable[SelfAttentionLayer], states: str, mask: str
) -> str:
    """Add layers of attention one after the other."""
    scores = graph.node("Unsqueeze", masked_scores(graph, mask), graph.ints(1, 2))  # [B, 1, 1, T]
    for layer in layers:
        states = _attention_layer(graph, layer, states, scores)
    return states


def _attention_layer(graph: GraphBuilder, layer: SelfAttentionLayer, states: str, scores: str) -> str:
    if layer.norm_first:
        read = _attended(graph, layer, norm(graph, layer.attention_norm, states), scores)
        states = graph.node("Add", states, read)
        hidden = graph.node("Relu", linear(graph, layer.hidden, norm(graph, layer.hidden_norm, states)))
        return graph.node("Add", states, linear(graph, layer.hidden_out, hidden))
    read = _attended(graph, layer, states, scores)
    states = norm(graph, layer.attention_norm, graph.node("Add", states, read))
    hidden = _gelu(graph, linear(graph, layer.hidden, states))
    return norm(graph, layer.hidden_norm, graph.node("Add", states, linear(graph, layer.hidden_out, hidden)))


def _gelu(graph: GraphBuilder, states: str) -> str:
    share = graph.node("Erf", graph.node("Div", states, graph.array(2**0.5)))
    product = graph.node("Mul", states, graph.node("Add", share, graph.array(1)))
    return graph.node("Mul", product, graph.array(0.5))


def first_positions(graph: GraphBuilder, table: NDArray[np.float32]) -> str:
    """Add the first T rows of a table of positions [P, D], where T is the length of the batch: [T, D]."""
    width = graph.node("Shape", "input_ids", start=1, end=2)
    return graph.node("Slice", graph.array(table), graph.ints(0), width, graph.ints(0))


def _attended(graph: GraphBuilder, layer: SelfAttentionLayer, states: str, scores: str) -> str:
    """Add the attention of each token to the others, [B, T, D] -> [B, T, D]."""
    parts = linear(graph, layer.query_key_value, states)
    dim, heads = layer.attention_out.in_features, layer.heads
    query, key, value = (_heads(graph, parts, part * dim, dim, heads, turned=part == 1) for part in range(3))
    scale = graph.array((dim // heads) ** -0.5)
    logits = graph.node("Add", graph.node("MatMul", graph.node("Mul", query, scale), key), scores)
    read = graph.node("MatMul", graph.node("Softmax", logits, axis=3), value)
    read = graph.node("Reshape", graph.node("Transpose", read, perm=[0, 2, 1, 3]), graph.ints(0, 0, -1))
    return linear(graph, layer.attention_out, read)


def _heads(graph: GraphBuilder, parts: str, start: int, dim: int, heads: int, *, turned: bool) -> str:
    """Cut [B, T, D] out of [B, T, 3 D] and split it into heads: [B, heads, T, D / heads]; keys are transposed."""
    part = graph.node("Slice", parts, graph.ints(start), graph.ints(start + dim), graph.ints(2))
    split = graph.node("Reshape", part, graph.ints(0, 0, heads, dim // heads))
    return graph.node("Transpose", split, perm=[0, 2, 3, 1] if turned else [0, 2, 1, 3])


def norm(graph: GraphBuilder, layer: nn.LayerNorm, states: str) -> str:
    """Add a normalisation of the last axis."""
    scale, bias = graph.array(values(layer.weight)), graph.array(values(layer.bias))
    return graph.node("LayerNormalization", states, scale, bias, axis=-1, epsilon=layer.eps)


def linear(graph: GraphBuilder, layer: nn.Linear, states: str) -> str:
    """Add a product with a weight, and a bias."""
    product = graph.node("MatMul", states, graph.weight(values(layer.weight).T, axis=1))
    return graph.node("Add", product, graph.array(values(layer.bias)))
