"""A snapshot numbers documents of many segments as one collection, hides dead ones, and orders equals."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from codesearch.config import IndexConfig, VectorConfig
from codesearch.store import snapshot as snapshot_module
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot, average_lengths
from codesearch.store.vectors import VectorReader
from tests.conftest import write_tree

IndexTree = Callable[..., IndexReader]


def code(*names: str) -> str:
    return "".join(f"def {name}(value):\n    return value.{name}\n\n\n" for name in names)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "src"


@pytest.fixture
def index(root: Path, index_tree: IndexTree, never_merged: None) -> IndexReader:
    """Return an index of three segments, in which `gone`, `old` and `older` are dead."""
    index_tree(write_tree(root, {"m.py": code("stays", "too"), "k.py": code("gone"), "z.py": code("old")}))
    (root / "k.py").unlink()
    index_tree(write_tree(root, {"z.py": code("older"), "b.py": code("early")}))
    index_tree(write_tree(root, {"z.py": code("late", "last"), "a.py": "class First:\n    pass\n"}))
    return index_tree(root)


def live(snapshot: Snapshot) -> np.ndarray:
    return np.flatnonzero(~snapshot.dead)


def names(snapshot: Snapshot, doc_ids: np.ndarray) -> list[str]:
    return [ref.row.name for ref in snapshot.refs(doc_ids.tolist())]


def test_documents_are_numbered_segment_by_segment_and_some_are_dead(index):
    snapshot = Snapshot([index])
    assert [len(segment) for segment in snapshot.segments] == [4, 2, 3]
    everything = ["gone", "stays", "too", "old", "early", "older", "First", "late", "last"]
    assert names(snapshot, np.arange(9)) == everything
    assert snapshot.size == 9
    assert names(snapshot, live(snapshot)) == ["stays", "too", "early", "First", "late", "last"]
    assert snapshot.document_count == index.manifest.documents == 6


def test_an_average_length_is_over_documents_with_the_field_and_at_least_one():
    found = average_lengths([[6, 0, 3, 0, 2], [9, 0, 0, 0, 0]], [[2, 0, 3, 0, 4], [3, 0, 0, 0, 0]])
    assert found.tolist() == [3.0, 1.0, 1.0, 1.0, 1.0]
    assert average_lengths([], []).tolist() == [1.0] * 5


def test_values_come_in_the_order_asked_for_from_any_segment(index):
    snapshot = Snapshot([index])
    asked = np.array([8, 0, 6, 4, 1])
    assert names(snapshot, asked) == ["last", "gone", "First", "early", "stays"]
    assert snapshot.rows(asked)["kind"].tolist() == [0, 0, 2, 0, 0]
    assert snapshot.rows(asked)["flags"].tolist() == [
        segment.store.document_rows()[number].flags
        for segment, number in zip(
            (snapshot.segments[place] for place in (2, 0, 2, 1, 0)), (2, 0, 0, 0, 1), strict=True
        )
    ]
    files = snapshot.rows(np.arange(9))["file_id"].tolist()
    assert [files.index(number) for number in files] == [0, 1, 1, 3, 4, 5, 6, 7, 7]
    assert snapshot.paths_of(asked) == ["z.py", "k.py", "a.py", "b.py", "m.py"]


def test_the_best_have_the_highest_scores_and_ties_are_ordered_by_place(index):
    snapshot = Snapshot([index])
    doc_ids = np.arange(9)
    scores = np.array([1, 2, 1, 1, 2, 1, 1, 3, 1], np.float32)
    order = doc_ids[snapshot.order(doc_ids, scores)]
    assert sorted(order.tolist()) == list(range(9))
    assert [scores[doc_id] for doc_id in order] == sorted(scores, reverse=True)
    for count in range(1, 10):
        assert sorted(snapshot.best(doc_ids, scores, count).tolist()) == sorted(order[:count].tolist())


def test_the_nearest_are_the_live_documents_of_a_full_scan(index, encoder):
    snapshot = Snapshot([index])
    query = encoder.encode_queries(["late value"])[0]
    doc_ids = live(snapshot)
    expected = doc_ids[snapshot.order(doc_ids, snapshot.similarities(query, doc_ids))]
    for count in (1, 2, 5, 6, 7, 100):
        found = snapshot.nearest(query, count, None, 100)
        assert sorted(found.tolist()) == sorted(expected[:count].tolist()), count


def test_the_nearest_allowed_documents_are_live(index, encoder):
    snapshot = Snapshot([index])
    query = encoder.encode_queries(["old"])[0]
    allowed = np.isin(np.arange(9), [0, 3, 5, 6])
    assert snapshot.nearest(query, 5, allowed, 100).tolist() == [6]
    assert snapshot.nearest(query, 5, np.zeros(9, bool), 100).tolist() == []


@pytest.fixture
def graphs(root: Path, index_tree: IndexTree, never_merged: None) -> Iterator[IndexReader]:
    pytest.importorskip("hnswlib")
    config = IndexConfig(vectors=VectorConfig(hnsw_threshold=2))
    files = {f"{number:02}.py": code(f"value_{number}", f"other_{number}") for number in range(20)}
    index_tree(write_tree(root, files), config=config)
    for number in range(0, 20, 2):
        (root / f"{number:02}.py").write_text(code(f"changed_{number}"))
    return index_tree(root, config=config)


def test_a_graph_search_finds_live_documents_despite_dead_ones(graphs, encoder):
    assert [segment.vectors.has_graph for segment in graphs.segments] == [True, True]
    snapshot = Snapshot([graphs])
    query = encoder.encode_queries(["value_4 other_6"])[0]
    doc_ids = live(snapshot)
    near = snapshot.nearest(query, 10, None, 100)
    assert not snapshot.dead[near].any()
    expected = doc_ids[snapshot.order(doc_ids, snapshot.similarities(query, doc_ids))][:10]
    assert set(expected.tolist()) <= set(near.tolist())


def test_an_empty_snapshot_finds_nothing(encoder):
    snapshot = Snapshot([])
    nothing = np.empty(0, np.int64)
    assert (snapshot.size, snapshot.document_count) == (0, 0)
    assert snapshot.nearest(encoder.encode_queries(["x"])[0], 5, None, 100).tolist() == []
    assert snapshot.best(nothing, np.empty(0, np.float32), 5).tolist() == []
    assert snapshot.order(nothing, np.empty(0, np.float32)).tolist() == []
    assert (snapshot.refs([]), list(snapshot.named("x"))) == ([], [])


def test_a_segment_with_many_dead_documents_is_searched_exactly(graphs, encoder, monkeypatch):
    def refuse(*_):
        raise AssertionError("asked the graph")

    monkeypatch.setattr(snapshot_module, "MAX_NEIGHBOURS", 25)
    monkeypatch.setattr(VectorReader, "neighbours", refuse)
    snapshot = Snapshot([graphs])
    with pytest.raises(AssertionError, match="asked the graph"):
        snapshot.nearest(encoder.encode_queries(["value_4"])[0], 2, None, 100)
    assert len(snapshot.nearest(encoder.encode_queries(["value_4"])[0], 13, None, 100)) >= 13
