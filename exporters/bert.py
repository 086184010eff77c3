"""A pretrained BERT of sentences -> one ONNX graph, for queries and documents alike.

Token, position and segment embeddings, layers that are normalised after each half, GELU, the mean over tokens, unit
length. *Source*: Devlin et al. 2019; Reimers and Gurevych 2019 (the mean); Wang et al. 2020 (MiniLM).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from codesearch.errors import MissingExtraError
from exporters.graph import GraphBuilder, with_dtype
from exporters.layers import (
    EPSILON,
    attention,
    first_positions,
    float_mask,
    linear,
    masked_scores,
    norm,
    unit_length,
    values,
    weighted_sum,
)
from exporters.onnx import Dtype

_PARTS = ("query", "key", "value")


@dataclass(frozen=True, slots=True)
class BertConfig:
    """Sizes of a model, called as in its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    layer_norm_eps: float = 1e-12


class BertLayer(nn.Module):
    """Attention and feed-forward, each added to what it is given and then normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        dim, hidden = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        self.query_key_value, self.attention_out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.hidden, self.hidden_out = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.attention_norm, self.hidden_norm = (
            nn.LayerNorm(dim, eps=config.layer_norm_eps) for _ in range(2)
        )

    def forward(self, states: Tensor, allowed: Tensor) -> Tensor:
        """Pass states [B, T, D] through; `allowed` [B, 1, 1, T] says which tokens may be read."""
        batch, width, _ = states.shape
        parts = self.query_key_value(states).view(batch, width, 3, self.heads, -1)
        read = functional.scaled_dot_product_attention(*parts.permute(2, 0, 3, 1, 4), attn_mask=allowed)
        read = self.attention_out(read.transpose(1, 2).reshape(batch, width, -1))
        states = self.attention_norm(states + read)
        return self.hidden_norm(states + self.hidden_out(functional.gelu(self.hidden(states))))


class Bert(nn.Module):
    """Ids and mask [B, T] -> unit vectors [B, D]; zeros for a text without tokens."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.table = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Parameter(torch.zeros(config.max_position_embeddings, config.hidden_size))
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Embed texts."""
        states = self.norm(self.table(ids) + self.positions[: ids.shape[1]])
        allowed = (mask > 0)[:, None, None] | ~(mask > 0).any(1)[:, None, None, None]  # No row of nothing.
        for layer in self.layers:
            states = layer(states, allowed)
        return functional.normalize((states * mask[..., None]).sum(1), eps=EPSILON)


def load_bert(folder: Path) -> Bert:
    """Read a model as Hugging Face stores it: `config.json` and `model.safetensors`.

    Raises:
        MissingExtraError: safetensors is not installed.
    """
    try:
        from safetensors.torch import load_file
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "teacher") from None
    known = json.loads((folder / "config.json").read_text("utf-8"))
    model = Bert(BertConfig(**{name: known[name] for name in BertConfig.__dataclass_fields__}))
    model.load_state_dict(_renamed(load_file(folder / "model.safetensors"), len(model.layers)))
    return model.eval()


def _renamed(state: Mapping[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Call weights as `Bert` does. All texts are first segments, so that one's vector is part of each position."""
    segment = state["embeddings.token_type_embeddings.weight"][0]
    renamed = {
        "table.weight": state["embeddings.word_embeddings.weight"],
        "positions": state["embeddings.position_embeddings.weight"] + segment,
        **_both(state, "embeddings.LayerNorm", "norm"),
    }
    for number in range(layers):
        old, new = f"encoder.layer.{number}", f"layers.{number}"
        for kind in ("weight", "bias"):
            parts = [state[f"{old}.attention.self.{part}.{kind}"] for part in _PARTS]
            renamed[f"{new}.query_key_value.{kind}"] = torch.cat(parts)
        renamed |= _both(state, f"{old}.attention.output.dense", f"{new}.attention_out")
        renamed |= _both(state, f"{old}.attention.output.LayerNorm", f"{new}.attention_norm")
        renamed |= _both(state, f"{old}.intermediate.dense", f"{new}.hidden")
        renamed |= _both(state, f"{old}.output.dense", f"{new}.hidden_out")
        renamed |= _both(state, f"{old}.output.LayerNorm", f"{new}.hidden_norm")
    return renamed


def _both(state: Mapping[str, Tensor], old: str, new: str) -> dict[str, Tensor]:
    return {f"{new}.{kind}": state[f"{old}.{kind}"] for kind in ("weight", "bias")}


def pruned(model: Bert, kept: NDArray[np.int64], max_tokens: int) -> Bert:
    """Keep the rows of some tokens, in the order given, and the first positions; changes the model."""
    model.table = nn.Embedding.from_pretrained(model.table.weight.detach()[torch.from_numpy(kept)])
    model.positions = nn.Parameter(model.positions.detach()[:max_tokens])
    return model


def bert_graph(model: Bert, dtype: Dtype = "fp32") -> onnx.ModelProto:
    """Write the graph of a model."""
    graph = GraphBuilder()
    mask = float_mask(graph)
    vectors = graph.node("Gather", graph.weight(values(model.table.weight), axis=0), "input_ids")
    placed = graph.node("Add", vectors, first_positions(graph, values(model.positions)))
    states = norm(graph, model.norm, placed)
    scores = graph.node("Unsqueeze", masked_scores(graph, mask), graph.ints(1, 2))  # [B, 1, 1, T]
    for layer in model.layers:
        states = _layer(graph, layer, states, scores)
    unit_length(graph, weighted_sum(graph, mask, states), output="embedding")
    size = model.table.weight.shape
    return with_dtype(graph.model(f"Bert_{size[0]}_{size[1]}", size[1]), dtype)


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
