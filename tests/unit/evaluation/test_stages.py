from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from codesearch.evaluation.stages import StageClock


def test_a_stage_that_fails_is_timed_too():
    clock = StageClock()
    with pytest.raises(KeyError), clock.stage("fails"):
        time.sleep(0.05)
        raise KeyError
    assert 0.05 <= clock.seconds["fails"] < 5


def test_the_peak_memory_is_measured_per_stage_and_includes_child_processes():
    clock = StageClock()
    with clock.stage("large"):
        block = np.ones(60_000_000, dtype=np.uint8)
        time.sleep(0.1)
        del block
    with clock.stage("small"):
        time.sleep(0.05)
    with clock.stage("child"):
        subprocess.run(
            [sys.executable, "-c", "import time; x = b'1' * 60_000_000; time.sleep(0.3)"], check=True
        )
    assert clock.rss_bytes["large"] > clock.rss_bytes["small"] + 50_000_000
    assert clock.rss_bytes["child"] > clock.rss_bytes["small"] + 50_000_000
