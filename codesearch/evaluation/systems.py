"""The systems that are compared: the product as it ships, and parts of it, by settings that anyone can make."""

from __future__ import annotations

from dataclasses import dataclass, field

from codesearch.config import RankConfig

DEFAULT = "default"
_PLAIN = RankConfig(name_weight=0.0, rerank_count=0)
"""Neither a reward for exact names nor a second look at the head."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to rank: a mode of the searcher, its weights, and whether the head has vectors of the larger encoder."""

    name: str
    mode: str
    what: str
    config: RankConfig = field(default_factory=RankConfig)
    larger: bool = False


SYSTEMS = (
    System("bm25", "lexical", "keywords alone: BM25F", _PLAIN),
    System("dense", "semantic", "vectors alone: exact cosine", _PLAIN),
    System("fused", "hybrid", "both, without a second look at the head", RankConfig(rerank_count=0)),
    System(DEFAULT, "hybrid", "as it ships"),
)
UPGRADED = System("upgraded", "hybrid", "as it ships, with the vectors of the larger encoder", larger=True)
