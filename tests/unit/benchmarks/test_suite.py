"""Signals that `--without` switches off, and in which systems."""

import pytest

from benchmarks.suite import SIGNALS, systems_without
from codesearch.config import RankConfig


@pytest.mark.parametrize("signal", SIGNALS)
def test_every_signal_changes_the_default_ranking(signal):
    (default,) = (system for system in systems_without((signal,)) if system.name == "default")
    assert default.config != RankConfig()
