"""Signals of all candidates -> one order, in which chance plays no part."""

from __future__ import annotations

import numpy as np
import pytest

from codesearch.config import RankConfig
from codesearch.search.candidates import Candidates
from codesearch.search.fusion import Ranking, fuse
from codesearch.segments.topk import best_positions


def candidates(number: int, doc_ids: list[int], ceiling: float = 0.0, **signals: list[float]) -> Candidates:
    zeros = [0.0] * len(doc_ids)
    names = ("bm25", "cosine", "name")
    arrays = {name: np.array(signals.get(name, zeros), np.float32) for name in names}
    arrays["length_prior"] = np.array(signals.get("length_prior", [1.0] * len(doc_ids)), np.float32)
    return Candidates(number, np.array(doc_ids, dtype=np.int64), ceiling=ceiling, **arrays)


def places(ranking: Ranking, top_k: int = 10) -> list[tuple[int, int, float]]:
    return [(place.index, place.doc_id, place.score) for place in ranking.ranked(top_k)]


def test_ties_go_to_the_earlier_index_and_then_to_the_smaller_doc_id():
    ranking = fuse(
        [
            candidates(0, [3, 5, 9], cosine=[0.5, 0.75, 0.5]),
            candidates(1, [1, 2], cosine=[0.5, 0.75]),
        ],
        RankConfig(),
    )
    assert places(ranking) == [(0, 5, 0.75), (1, 2, 0.75), (0, 3, 0.5), (0, 9, 0.5), (1, 1, 0.5)]
    assert places(ranking, 2) == [(0, 5, 0.75), (1, 2, 0.75)]


def test_keyword_scores_are_divided_by_what_their_own_index_can_give():
    ranking = fuse(
        [
            candidates(0, [0, 1], ceiling=4.0, bm25=[3.0, 0.0]),
            candidates(1, [0], ceiling=16.0, bm25=[8.0]),
            candidates(2, [0], bm25=[0.0]),
        ],
        RankConfig(lexical_weight=1.0),
    )
    assert places(ranking) == [(0, 0, 0.75), (1, 0, 0.5), (0, 1, 0.0), (2, 0, 0.0)]
    assert [place.signals["bm25"] for place in ranking.ranked(4)] == [3.0, 8.0, 0.0, 0.0]


def test_every_signal_counts_by_its_weight():
    config = RankConfig(semantic_weight=2.0, lexical_weight=0.5, name_weight=4.0)
    found = candidates(0, [7], ceiling=4.0, bm25=[3.0], cosine=[0.25], length_prior=[0.75], name=[0.5])
    ranking = fuse([found], config)
    assert places(ranking) == [(0, 7, 2.0 * 0.25 * 0.75 + 0.5 * 0.75 + 4.0 * 0.5)]
    (place,) = ranking.ranked(1)
    assert place.signals == {
        "cosine": 0.25,
        "length_prior": 0.75,
        "bm25": 3.0,
        "bm25_normalised": 0.75,
        "name": 0.5,
    }


def test_a_cosine_counts_as_far_as_it_is_believed():
    ranking = fuse([candidates(0, [0, 1], cosine=[0.5, 0.375], length_prior=[0.5, 0.75])], RankConfig())
    assert places(ranking) == [(0, 1, 0.28125), (0, 0, 0.25)]


def test_no_candidates_are_no_answers():
    assert places(fuse([candidates(0, []), candidates(1, [])], RankConfig())) == []


@pytest.mark.parametrize("count", range(1, 10))
def test_the_best_positions_hold_the_highest_scores_and_of_equals_the_first(count):
    scores = np.array([2, 1, 3, 2, 2, 0, 3, 1], np.float32)
    expected = sorted(range(8), key=lambda position: (-scores[position], position))[:count]
    assert sorted(best_positions(scores, count).tolist()) == sorted(expected)
