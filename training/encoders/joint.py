"""Settings -> an encoder of queries and one or several of documents, into one space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.config import TrainConfig
from training.encoders.bag import BagTower
from training.encoders.bert import Bert
from training.encoders.ncs import NcsTower
from training.files import TrainingError
from training.pooling import make_pooling

SHARED = "all"
"""Name of the document encoder that all languages share."""
INIT_STD = 0.1
_BAGS = ("nbow", "unif")


class JointEncoder(nn.Module):
    """All sides. They start equal, so the first similarities are overlaps of words."""

    def __init__(self, config: TrainConfig, vocabulary_size: int, languages: Sequence[str]) -> None:
        super().__init__()
        names = languages if config.code_encoders == "per-language" else [SHARED]
        if config.architecture == "bert":
            self.query: nn.Module = _make_bert(config, vocabulary_size)
            self.documents = nn.ModuleDict({SHARED: self.query})
            return
        if config.architecture == "ncs":
            table = nn.Embedding(vocabulary_size, config.dim)
            self.query = NcsTower(table, is_query=True)
            self.documents = nn.ModuleDict({name: NcsTower(table, is_query=False) for name in names})
            self.context = nn.Embedding(vocabulary_size, config.dim)
            nn.init.zeros_(self.context.weight)
            nn.init.normal_(table.weight, std=INIT_STD)
            return
        self.query = _make_tower(config, vocabulary_size, is_query=True)
        nn.init.normal_(self.query.table.weight, std=INIT_STD)
        self.documents = nn.ModuleDict(
            {name: _make_tower(config, vocabulary_size, is_query=False) for name in names}
        )
        for tower in self.documents.values():
            tower.load_state_dict(_shared(self.query.state_dict(), tower), strict=False)

    def document(self, language: str) -> nn.Module:
        """Return the encoder of a language's documents."""
        name = SHARED if SHARED in self.documents else language
        if name not in self.documents:
            known = ", ".join(self.documents)
            raise TrainingError(f"no encoder of {language}: this run has one of each of {known}")
        return self.documents[name]

    @property
    def is_one(self) -> bool:
        """Return whether queries and documents have the same weights."""
        return SHARED in self.documents and self.documents[SHARED] is self.query

    def languages(self, names: Sequence[str]) -> list[str]:
        """Return the languages whose documents it can embed."""
        return [name for name in names if SHARED in self.documents or name in self.documents]

    @property
    def takes_counts(self) -> bool:
        """Return whether a document may be given as distinct tokens with counts in the mask."""
        return all(tower.takes_counts for tower in self.documents.values())

    def set_idf(self, log_idf: Tensor, power: float) -> None:
        """Give NCS its idf, or start token weights from idf to a power: the log of idf, float32 [V]."""
        for module in self.modules():
            if isinstance(module, NcsTower) and module.idf is not None:
                module.idf.copy_(log_idf.exp())
            elif isinstance(getattr(module, "log_weight", None), nn.Parameter):
                module.log_weight.data.copy_(power * log_idf[:, None])

    def set_vectors(self, vectors: Tensor) -> None:
        """Initialise the vectors of all sides with these: float32 [V, D]."""
        for tower in (self.query, *self.documents.values()):
            tower.table.weight.data.copy_(vectors)

    def set_shares(self, shares: Tensor) -> None:
        """Give NCS the frequency of each token: float32 [V], sum 1."""
        for module in self.modules():
            if isinstance(module, NcsTower):
                module.shares.copy_(shares)


def _make_bert(config: TrainConfig, vocabulary_size: int) -> Bert:
    model = Bert(
        vocab_size=vocabulary_size,
        hidden_size=config.dim,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=config.hidden_dim or 4 * config.dim,
        max_position_embeddings=config.max_document_tokens,
    )
    model.freeze(config.frozen_layers)
    return model


def _make_tower(config: TrainConfig, vocabulary_size: int, *, is_query: bool) -> nn.Module:
    pooling = config.query_pooling or config.pooling if is_query else config.pooling
    count_power = 1.0 if is_query else config.count_power
    architecture = config.query_architecture or config.architecture if is_query else config.architecture
    if architecture in _BAGS:
        return BagTower(vocabulary_size, config.dim, pooling, count_power, config.table_dropout)
    return SequenceTower(
        vocabulary_size,
        config.dim,
        body=_make_body(
            config, architecture, config.max_query_tokens if is_query else config.max_document_tokens
        ),
        pooling=make_pooling(pooling, vocabulary_size, config.dim, count_power),
        dropout=config.dropout,
        table_dropout=config.table_dropout,
    )


def _make_body(config: TrainConfig, architecture: str, max_tokens: int) -> nn.Module:
    modules = [import_module(f"training.encoders.{name}") for name in architecture.split("-")]
    bodies: list[nn.Module] = [Positions(config.dim, max_tokens)] if config.positions else []
    bodies += [module.make_body(config, max_tokens) for module in modules]
    return bodies[0] if len(bodies) == 1 else Stack(*bodies)


def _shared(values: Mapping[str, Tensor], target: nn.Module) -> dict[str, Tensor]:
    """Return the values that fit a side, because shapes of positions and of poolings may differ."""
    places = target.state_dict()
    return {
        name: value for name, value in values.items() if name in places and places[name].shape == value.shape
    }


class SequenceTower(nn.Module):
    """One side: a table of token vectors, a body [B, T, D] -> [B, T, D], a pooling.

    Every layer of a body adds to its input, and adds nothing at first, so training starts from a bag of words.
    """

    takes_counts = False

    def __init__(
        self,
        vocabulary_size: int,
        dim: int,
        *,
        body: nn.Module,
        pooling: nn.Module,
        dropout: float,
        table_dropout: float,
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary_size, dim)
        self.dropout, self.table_dropout = nn.Dropout(dropout), nn.Dropout(table_dropout)
        self.body = body
        self.pool = pooling

    def forward(self, input_ids: Tensor, attention_mask: Tensor, *, unit: bool = True) -> Tensor:
        """Embed texts: int64 [B, T], mask of 0 and 1 [B, T], padding last -> float32 [B, D], by default of length 1."""
        vectors = functional.embedding(input_ids, self.table_dropout(self.table.weight))
        states = self.body(self.dropout(vectors), attention_mask)
        pooled = self.pool(states, attention_mask, input_ids).float()
        return functional.normalize(pooled, dim=1) if unit else pooled


class Positions(nn.Module):
    """A learned vector for each position, added to the state there."""

    def __init__(self, dim: int, max_tokens: int) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(max_tokens, dim))

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass [B, T, D] states through."""
        return states + self.positions[: states.shape[1]]


class Stack(nn.Module):
    """Bodies one after the other."""

    def __init__(self, *bodies: nn.Module) -> None:
        super().__init__()
        self.bodies = nn.ModuleList(bodies)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        """Pass [B, T, D] states through."""
        for body in self.bodies:
            states = body(states, mask)
        return states
