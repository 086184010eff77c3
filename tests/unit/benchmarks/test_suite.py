"""Signals that `--without` switches off, and in which systems."""

import pytest

from benchmarks.suite import SIGNALS, systems_without
from codesearch.config import RankConfig
from codesearch.evaluation.judge import SYSTEMS


def test_without_the_option_the_systems_do_not_change():
    assert systems_without(()) == SYSTEMS


def test_a_signal_is_switched_off_only_in_hybrid_systems():
    found = {system.name: system.config for system in systems_without(("direction", "name"))}
    assert (found["default"].direction_penalty, found["default"].name_weight) == (0.0, 0.0)
    assert found["default"].test_penalty == RankConfig().test_penalty
    assert found["fused"].heuristics_count == 0 and found["fused"].name_weight == 0.0
    assert {name: found[name] for name in ("bm25", "dense")} == {
        system.name: system.config for system in SYSTEMS if system.mode != "hybrid"
    }


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_changes_the_default_ranking(signal: str):
    (default,) = (system for system in systems_without((signal,)) if system.name == "default")
    assert default.config != RankConfig()
