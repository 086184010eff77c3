"""What `--without` turns off, and in which systems."""

from __future__ import annotations

import pytest

from codesearch.config import RankConfig
from codesearch.errors import ConfigError
from codesearch.evaluation.systems import SIGNALS, SYSTEMS, systems_without


def test_without_nothing_the_systems_are_as_they_are():
    assert systems_without(()) == SYSTEMS


def test_a_signal_is_turned_off_where_both_halves_rank_and_nowhere_else():
    found = {system.name: system.config for system in systems_without(("direction", "name"))}
    assert (found["default"].direction_penalty, found["default"].name_weight) == (0.0, 0.0)
    assert found["default"].test_penalty == RankConfig().test_penalty
    assert found["fused"].rerank_count == 0 and found["fused"].name_weight == 0.0
    assert {name: found[name] for name in ("bm25", "dense")} == {
        system.name: system.config for system in SYSTEMS if system.mode != "hybrid"
    }


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_changes_the_ranking_that_ships(signal: str):
    (default,) = (system for system in systems_without((signal,)) if system.name == "default")
    assert default.config != RankConfig()


def test_an_unknown_signal_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="signal 'magic': choose one of vectors, keywords"):
        systems_without(("magic",))
