"""Documents of many segments as one collection: numbers, statistics, and order among equals."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from codesearch.build import plan as plan_module
from codesearch.config import RankConfig
from codesearch.search.searcher import MODES, Searcher
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from tests.conftest import best, search, write_tree

SAME = "def push_item(stack):\n    return stack.push(item)\n"


@pytest.fixture
def equals(tmp_path: Path, index_tree, monkeypatch) -> IndexReader:
    """Return an index of the same function in four files and segments, not in the order of their paths."""
    monkeypatch.setattr(plan_module, "GROWTH", 0)
    for name in ("d", "b", "c", "a"):
        index = index_tree(write_tree(tmp_path / "tree", {f"{name}/src/push.py": SAME}))
    assert len(index.segments) == 4
    return index


def test_equal_documents_are_candidates_and_ranked_in_the_order_of_paths(equals, encoder):
    for mode, count in product(MODES, (1, 2, 3, 4)):
        searcher = Searcher([equals], encoder, RankConfig(candidate_count=count))
        ranked = best(searcher, "push an item", 10, mode=mode)
        doc_ids = np.array([place.doc_id for place in ranked])
        paths = [path.split("/")[-3] for path in searcher.searched.snapshot.paths_of(doc_ids)]
        assert paths == ["a", "b", "c", "d"][:count], (mode, count)


def test_order_is_by_score_and_then_by_place(equals):
    snapshot = Snapshot([equals])
    doc_ids, scores = np.arange(4), np.array([1, 2, 1, 1], np.float32)
    found = [path.split("/")[-3] for path in snapshot.paths_of(doc_ids[snapshot.order(doc_ids, scores)])]
    assert found == ["b", "a", "c", "d"]


def test_two_roots_are_one_collection(tmp_path, index_tree, encoder):
    one = index_tree(write_tree(tmp_path / "one", {"x.py": SAME, "y.py": "def other():\n    return 2\n"}))
    two = index_tree(write_tree(tmp_path / "two", {"x.py": SAME}))
    snapshot = Snapshot([one, two])
    assert (snapshot.document_count, snapshot.size) == (3, 3)
    searcher = Searcher([two, one], encoder)
    ranked = best(searcher, "push item", 2)
    refs = searcher.searched.snapshot.refs([place.doc_id for place in ranked])
    assert [Path(ref.root).name for ref in refs] == ["one", "two"]


def test_an_index_without_documents_gives_no_hits(tmp_path, index_tree, encoder):
    (tmp_path / "empty").mkdir()
    index = index_tree(tmp_path / "empty")
    for mode in ("lexical", "semantic", "hybrid"):
        assert search(Searcher([index], encoder), "push", mode=mode) == []
