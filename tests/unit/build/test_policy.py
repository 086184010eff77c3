"""The merge policy keeps few segments and rewrites each document rarely."""

import math

import pytest

from codesearch.build import plan as plan_module
from codesearch.build.plan import segments_to_merge
from codesearch.store.manifest import SegmentEntry


def entry(number: int, live: int, dead: int = 0) -> SegmentEntry:
    return SegmentEntry(
        number=number,
        source_files=live + dead,
        documents=live + dead,
        live_documents=live,
        dead_files=list(range(dead)),
        field_sums=[0] * 5,
        field_counts=[0] * 5,
        files={},
    )


def chosen(entries: list[SegmentEntry], new_documents: int) -> list[int]:
    return [entry.number for entry in segments_to_merge(entries, new_documents)]


@pytest.mark.parametrize(
    ("sizes", "new", "expected"),
    [
        ([], 10, []),
        ([30], 10, [1]),
        ([31], 10, []),
        ([1000, 30, 120], 10, [2, 3]),
        ([1000, 480, 120, 30], 10, [1, 2, 3, 4]),
        ([31, 5], 10, [1, 2]),
    ],
)
def test_small_segments_are_merged_up_to_three_times_the_size_collected_so_far(sizes, new, expected):
    entries = [entry(number, size) for number, size in enumerate(sizes, 1)]
    assert chosen(entries, new) == expected


def test_a_segment_of_any_size_is_rewritten_at_30_percent_dead_documents():
    assert chosen([entry(1, 700_001, 299_999), entry(2, 700_000, 300_000)], 1) == [1, 2]
    assert chosen([entry(1, 700_001, 299_999)], 1) == []
    assert chosen([entry(1, 700_000, 300_000)], 1) == [1]


def test_a_merge_of_small_segments_stays_within_the_maximum_size(monkeypatch):
    monkeypatch.setattr(plan_module, "MAX_DOCUMENTS", 100)
    assert chosen([entry(1, 60), entry(2, 30)], 11) == [2]
    assert chosen([entry(1, 60), entry(2, 30)], 10) == [1, 2]


def test_a_merge_of_segments_with_dead_documents_stays_within_the_maximum_size(monkeypatch):
    monkeypatch.setattr(plan_module, "MAX_DOCUMENTS", 100)
    entries = [entry(1, 60, 40), entry(2, 70, 30)]
    together = sum(found.live_documents for found in segments_to_merge(entries, 1))
    assert together + 1 <= 100


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_many_updates_leave_few_segments_and_rewrite_little(size):
    entries: list[SegmentEntry] = []
    written = 0
    for number in range(1, 2001):
        merged = segments_to_merge(entries, size)
        entries = [old for old in entries if old not in merged]
        entries.append(entry(number, size + sum(old.live_documents for old in merged)))
        written += entries[-1].live_documents
        assert len(entries) <= 2 + math.log(number, 3)
    assert written <= 2000 * size * (1 + math.log2(2000))
