from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from codesearch.evaluation.stages import StageClock, tree_rss_bytes
from tests.command import until

LARGE = "import sys; block = b'1' * 60_000_000; sys.stdin.read()"


def test_a_stage_that_fails_is_timed_too():
    clock = StageClock()
    with pytest.raises(KeyError), clock.stage("fails"):
        raise KeyError
    assert clock.seconds["fails"] >= 0


def test_the_peak_memory_is_measured_per_stage_and_includes_child_processes():
    clock, before = StageClock(), tree_rss_bytes(os.getpid())
    with clock.stage("large"):
        block = np.ones(60_000_000, dtype=np.uint8)
        until(lambda: clock.rss_bytes.get("large", 0) > before + 50_000_000)
        del block
    with clock.stage("small"):
        pass
    with clock.stage("child"), subprocess.Popen([sys.executable, "-c", LARGE], stdin=-1) as child:
        until(lambda: clock.rss_bytes.get("child", 0) > clock.rss_bytes["small"] + 50_000_000)
        child.stdin.close()
    assert clock.rss_bytes["large"] > clock.rss_bytes["small"] + 50_000_000
