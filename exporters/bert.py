"""A BERT of sentences -> one ONNX graph for queries and documents."""

from __future__ import annotations

from torch import nn

from exporters.graph import GraphBuilder
from exporters.layers import (
    attention,
    first_positions,
    float_mask,
    linear,
    masked_scores,
    norm,
    values,
    weighted_sum,
)
from training.encoders.bert import Bert


def add_bert(graph: GraphBuilder, model: Bert) -> str:
    """Add a model's nodes; return the name of the sum over tokens, [B, D]."""
    mask = float_mask(graph)
    vectors = graph.node("Gather", graph.weight(values(model.table.weight), axis=0), "input_ids")
    placed = graph.node("Add", vectors, first_positions(graph, values(model.positions)))
    states = norm(graph, model.norm, placed)
    scores = graph.node("Unsqueeze", masked_scores(graph, mask), graph.ints(1, 2))  # [B, 1, 1, T]
    for layer in model.layers:
        states = _layer(graph, layer, states, scores)
    return weighted_sum(graph, mask, states)


def _layer(graph: GraphBuilder, layer: nn.Module, states: str, scores: str) -> str:
    parts = linear(graph, layer.query_key_value, states)
    read = attention(graph, parts, scores, dim=layer.attention_out.in_features, heads=layer.heads)
    read = linear(graph, layer.attention_out, read)
    states = norm(graph, layer.attention_norm, graph.node("Add", states, read))
    hidden = _gelu(graph, linear(graph, layer.hidden, states))
    return norm(graph, layer.hidden_norm, graph.node("Add", states, linear(graph, layer.hidden_out, hidden)))


def _gelu(graph: GraphBuilder, states: str) -> str:
    share = graph.node("Erf", graph.node("Div", states, graph.array(2**0.5)))
    product = graph.node("Mul", states, graph.node("Add", share, graph.array(1)))
    return graph.node("Mul", product, graph.array(0.5))
