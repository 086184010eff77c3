"""Many changes become one update."""

from __future__ import annotations

import math

import pytest

from codesearch.watch.watcher import LIMIT_S, QUIET_S, Debounce


def test_without_a_change_there_is_nothing_to_do():
    assert Debounce().due == math.inf and not Debounce().is_pending


def test_an_update_is_due_a_moment_after_the_last_change():
    changes = Debounce()
    for now in (10.0, 10.05, 10.1):
        changes.touch(now)
    assert changes.due == pytest.approx(10.1 + QUIET_S)


def test_continuous_changes_delay_an_update_only_up_to_the_limit():
    changes = Debounce()
    for step in range(1000):
        changes.touch(10.0 + step * QUIET_S / 2)
    assert changes.due == 10.0 + LIMIT_S


def test_touch_returns_true_only_for_the_first_change_after_an_update():
    changes = Debounce()
    assert [changes.touch(1.0), changes.touch(1.1)] == [True, False]
    changes.clear()
    assert changes.touch(9.0) and changes.due == 9.0 + QUIET_S
