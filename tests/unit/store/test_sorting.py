"""The highest scores, counts of equal numbers, and a sort of words within the memory of a small buffer."""

import tracemalloc

import numpy as np
import pytest

from codesearch.store import sorting
from codesearch.store.sorting import RunSorter, best_positions, equal_before

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


KEYS = 40
ORDER = np.random.default_rng(1).permutation(KEYS).astype(np.uint32)


def words_of(count: int, arrangement: str) -> np.ndarray:
    """Return distinct words: their lower halves are distinct, and the keys repeat."""
    low = np.arange(count, dtype=np.uint64)
    words = (low % np.uint64(KEYS) << np.uint64(32)) | low
    if arrangement == "chance":
        return np.random.default_rng(0).permutation(words)
    if arrangement == "one key":
        return low
    return np.sort(words) if arrangement == "ascending" else np.sort(words)[::-1]


def by_hand(words: np.ndarray) -> list[int]:
    return sorted((int(ORDER[word >> 32]) << 32) | (word & 0xFFFF_FFFF) for word in words.tolist())


@pytest.fixture
def sorter(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_WORDS", 100)
    sorter = RunSorter(tmp_path)
    yield sorter
    sorter.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arrangement", ["chance", "one key", "ascending", "descending"])
@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 200, 250, 3_333])
def test_words_come_in_ascending_order_in_parts_of_at_most_the_buffer_size(sorter, count, arrangement):
    words = words_of(count, arrangement)
    for part in np.array_split(words, 7):
        sorter.add(part)
    assert len(sorter) == count
    parts = [part.tolist() for part in sorter.ascending(ORDER)]
    assert [word for part in parts for word in part] == by_hand(words)
    assert all(0 < len(part) <= 100 for part in parts)


def test_words_that_come_while_the_buffer_is_nearly_full_are_sorted(sorter):
    words = words_of(350, "chance")
    for part in np.split(words, [99, 150, 199, 299]):
        sorter.add(part)
    assert np.concatenate(list(sorter.ascending(ORDER))).tolist() == by_hand(words)


def test_more_runs_than_words_in_the_buffer_are_sorted(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_WORDS", 3)
    sorter, words = RunSorter(tmp_path), words_of(50, "chance")
    sorter.add(words)
    assert np.concatenate(list(sorter.ascending(ORDER))).tolist() == by_hand(words)
    sorter.close()


def test_words_that_fit_the_buffer_are_not_written_to_disk(sorter, monkeypatch):
    monkeypatch.setattr(RunSorter, "_spill", lambda _: pytest.fail("spilled"))
    for part in np.array_split(words_of(100, "chance"), 3):
        sorter.add(part)
    assert sum(len(part) for part in sorter.ascending(ORDER)) == 100


def test_memory_does_not_grow_with_the_words(tmp_path, monkeypatch):
    monkeypatch.setattr(sorting, "RUN_WORDS", 1 << 14)
    peaks = []
    for count in (20 << 14, 60 << 14):
        words = words_of(count, "chance")
        tracemalloc.start()
        sorter = RunSorter(tmp_path)
        sorter.add(words)
        assert sum(len(part) for part in sorter.ascending(ORDER)) == count
        sorter.close()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    buffer_bytes = 8 << 14
    assert max(peaks) < 4 * buffer_bytes
