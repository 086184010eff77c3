"""The systems that are compared: the product with its defaults, and parts of it, by settings that users have too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from codesearch.config import RankConfig
from codesearch.errors import ConfigError

DEFAULT = "default"
_FUSED = RankConfig(
    heuristics_count=0, file_diversity_penalty=0.0, file_support_weight=0.0, file_name_weight=0.0
)
"""Without heuristics."""
_PLAIN = replace(_FUSED, name_weight=0.0)
"""Without heuristics and without a reward for exact names."""


@dataclass(frozen=True, slots=True)
class System:
    """A way to rank: a mode of the searcher and its weights."""

    name: str
    mode: str
    config: RankConfig = field(default_factory=RankConfig)


SYSTEMS = (
    System("bm25", "lexical", _PLAIN),
    System("dense", "semantic", _PLAIN),
    System("fused", "hybrid", _FUSED),
    System(DEFAULT, "hybrid"),
)
"""Keywords alone (BM25F), vectors alone (exact cosine), both without heuristics, and the product as it ships."""
SIGNALS: dict[str, dict[str, Any]] = {
    "vectors": {"semantic_weight": 0.0},
    "keywords": {"lexical_weight": 0.0, "code_lexical_weight": 0.0},
    "length_prior": {"length_prior_half": 0.0},
    "name": {"name_weight": 0.0},
    "direction": {"direction_reward": 0.0, "direction_penalty": 0.0},
    "single_word": {"single_word_weight": 0.0},
    "test": {"test_penalty": 0.0},
    "generated": {"generated_penalty": 0.0},
    "vendored": {"vendored_penalty": 0.0},
    "stub": {"stub_penalty": 0.0},
    "nested": {"nested_penalty": 0.0},
    "data": {"data_penalty": 0.0},
    "file_diversity": {"file_diversity_penalty": 0.0},
}
"""Signal that `--without` turns off -> the settings that do it."""


def systems_without(signals: Collection[str]) -> tuple[System, ...]:
    """Return the systems; all but the first two lack some signals of the ranking."""
    off: dict[str, Any] = {}
    for signal in signals:
        if signal not in SIGNALS:
            raise ConfigError(f"signal {signal!r}", f"choose one of {', '.join(SIGNALS)}")
        off |= SIGNALS[signal]
    return tuple(
        replace(system, config=replace(system.config, **off)) if system.mode == "hybrid" else system
        for system in SYSTEMS
    )
