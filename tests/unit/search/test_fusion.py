"""The signals of all candidates are fused into one deterministic order."""

from pathlib import Path

import numpy as np

from codesearch.config import RankConfig
from codesearch.search.ranking import Ranking, fuse
from codesearch.store.snapshot import Snapshot

TWO = "def first():\n    pass\n\n\ndef second():\n    pass\n"
ONE_SEGMENT = Snapshot([])


def fused(doc_ids, documents=ONE_SEGMENT, config=None, **signals):
    zeros, ones = [0.0] * len(doc_ids), [1.0] * len(doc_ids)
    names = ("cosine", "window", "bm25_normalised", "name")
    arrays = {name: np.array(signals.get(name, zeros), np.float32) for name in names}
    arrays["passage"] = np.array(signals.get("passage", arrays["cosine"]), np.float32)
    arrays["length_prior"] = np.array(signals.get("length_prior", ones), np.float32)
    ranking = Ranking(
        documents, np.array(doc_ids, np.int64), np.empty(0), arrays, np.zeros(len(doc_ids), np.float32)
    )
    fuse(ranking, config or RankConfig(semantic_weight=1.0))
    return ranking


def places(ranking: Ranking, top_k: int = 10) -> list[tuple[int, float]]:
    return [(place.doc_id, place.score) for place in ranking.best(top_k)]


def test_ties_are_ordered_by_position():
    ranking = fused([1, 2, 3, 5, 9], cosine=[0.5, 0.75, 0.5, 0.75, 0.5])
    assert places(ranking) == [(2, 0.75), (5, 0.75), (1, 0.5), (3, 0.5), (9, 0.5)]
    assert places(ranking, 2) == [(2, 0.75), (5, 0.75)]


def stored_names(snapshot: Snapshot, ranking: Ranking) -> list[str]:
    refs = snapshot.refs([place.doc_id for place in ranking.best(snapshot.size)])
    return [f"{Path(ref.root).name}/{ref.path} {ref.row.name}" for ref in refs]


def test_ties_over_segments_and_roots_are_ordered_by_path_root_and_place(index_of, never_merged):
    index_of({"b.py": TWO, "d.py": TWO}, "one")
    one = index_of({"a.py": TWO, "c.py": TWO}, "one")
    two = index_of({"b.py": TWO, "c.py": TWO}, "two")
    assert [len(index.segments) for index in (one, two)] == [2, 1]
    for indexes in ((one, two), (two, one)):
        snapshot = Snapshot(indexes)
        ranking = fused(list(range(12)), snapshot, cosine=[0.5] * 12)
        assert stored_names(snapshot, ranking) == [
            f"{file} {name}"
            for file in ("one/a.py", "one/b.py", "two/b.py", "one/c.py", "two/c.py", "one/d.py")
            for name in ("first", "second")
        ]


def test_some_equal_scores_are_ordered_like_all_equal_ones(index_of, never_merged):
    index_of({"b.py": TWO}, "one")
    snapshot = Snapshot([index_of({"a.py": TWO}, "one")])
    ranking = fused([0, 1, 2, 3], snapshot, cosine=[0.25, 0.5, 0.75, 0.5])
    assert stored_names(snapshot, ranking) == [
        "one/a.py first",
        "one/a.py second",
        "one/b.py second",
        "one/b.py first",
    ]


def test_every_signal_is_multiplied_by_its_weight():
    config = RankConfig(
        semantic_weight=2.0, passage_weight=0.5, window_weight=3.0, lexical_weight=0.5, name_weight=4.0
    )
    signals = {
        "cosine": [0.25],
        "passage": [0.75],
        "window": [0.125],
        "length_prior": [0.75],
        "bm25_normalised": [0.75],
        "name": [0.5],
    }
    (candidate,) = fused([7], config=config, **signals).best(1)
    assert (
        candidate.score
        == 2.0 * 0.5 * 0.75 + 3.0 * 0.125 + 0.5 * 0.75 + 4.0 * 0.5
        == sum(candidate.parts.values())
    )
    assert candidate.signals == {name: value for name, (value,) in signals.items()}


def test_no_candidates_give_no_hits():
    assert places(fused([])) == []
