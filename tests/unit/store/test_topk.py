"""The highest scores of an array, and counts of equal numbers."""

from __future__ import annotations

import numpy as np
import pytest

from codesearch.store.sorting import best_positions, equal_before

SIZE = 20_000
SAMPLED = np.arange(SIZE) % (SIZE // 4_096) == 0  # The scores that the cut-off is estimated from.
SCORES = {
    "random": np.random.default_rng(0).random(SIZE),
    "ties": np.random.default_rng(0).integers(0, 50, SIZE),
    "high where they are sampled": SAMPLED + np.random.default_rng(0).random(SIZE),
    "low where they are sampled": ~SAMPLED + np.random.default_rng(0).random(SIZE),
    "equal": np.zeros(SIZE),
}


@pytest.mark.parametrize("count", [1, 50, 1_000, SIZE - 1, SIZE])
@pytest.mark.parametrize("kind", SCORES)
def test_the_best_positions_are_those_of_a_full_sort(kind, count):
    scores = SCORES[kind].astype(np.float32)
    expected = np.argsort(-scores, kind="stable")[:count]
    assert sorted(best_positions(scores, count).tolist()) == sorted(expected.tolist())


def test_equal_numbers_are_counted_however_many_there_are():
    values = np.tile([7, 3], 70_000)
    assert equal_before(values).tolist() == [place // 2 for place in range(len(values))]
