"""What an index learned is read back as it was written, for its own model alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from codesearch.errors import IndexCorruptError
from codesearch.index.adaptation import (
    FILE,
    Adaptation,
    load_adaptation,
    remove_adaptation,
    save_adaptation,
)

TURN = np.array([[0, 2], [-2, 0]], np.float32)


def adaptation(model: str = "m") -> Adaptation:
    return Adaptation(TURN, model, 7, 0.25, 0.5, "2026-01-01T00:00:00+00:00")


def test_vectors_are_mapped_and_stay_of_unit_length():
    assert adaptation().apply(np.array([1, 0], np.float32)).tolist() == [0, 1]
    assert adaptation().apply(np.array([[0, 1], [0.6, 0.8]], np.float32)).tolist() == [
        [-1, 0],
        pytest.approx([-0.8, 0.6]),
    ]


def test_what_is_saved_is_what_is_loaded_until_it_is_removed(tmp_path: Path):
    assert load_adaptation(tmp_path, "m", "root") is None
    save_adaptation(tmp_path, adaptation())
    found = load_adaptation(tmp_path, "m", "root")
    assert found is not None and found.matrix.tolist() == TURN.tolist()
    assert (found.pairs, found.mrr_before, found.mrr_after) == (7, 0.25, 0.5)
    assert load_adaptation(tmp_path, "another", "root") is None
    assert remove_adaptation(tmp_path) and not remove_adaptation(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"", b"PK nothing"])
def test_a_damaged_file_is_a_corrupt_index(tmp_path: Path, damage: bytes):
    (tmp_path / FILE).write_bytes(damage)
    with pytest.raises(IndexCorruptError, match=r"adaptation\.npz: cannot be read.*--rebuild root"):
        load_adaptation(tmp_path, "m", "root")
