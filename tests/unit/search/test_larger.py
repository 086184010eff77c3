"""Second cosines move the head of a ranking, and only by what nobody expected of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from codesearch.config import RankConfig
from codesearch.index.cache import VectorCache
from codesearch.index.upgrade import upgrade
from codesearch.search.larger import SIGNAL, LargerModel
from codesearch.search.searcher import Searcher
from tests.conftest import HashEncoder

QUERY = "number of items in a string"
PLAIN = RankConfig(rerank_count=0, crowding_penalty=0)
"""Without the second look, which comes after: places are those of the fused ranking."""
BASE, SLOPE = RankConfig().larger_expected


class Fixed:
    """Gives some texts a cosine, by their place among those asked for."""

    def __init__(self, cosines: dict[int, float]) -> None:
        self.by_place = cosines
        self.asked: list[bytes] = []

    def cosines(self, query: str, digests: Sequence[bytes]) -> dict[bytes, float]:
        self.asked = list(digests)
        return {digests[place]: cosine for place, cosine in self.by_place.items()}


def ranked(index, encoder, larger=None, config=PLAIN, query=QUERY, mode="hybrid"):
    return Searcher([index], encoder, config, larger=larger).rank(query, 100, mode=mode)


def test_a_high_second_cosine_lifts_a_document_and_a_low_one_lowers_it(built_index, encoder):
    plain = ranked(built_index, encoder)
    first, third = plain[0].doc_id, plain[2].doc_id
    found = ranked(built_index, encoder, Fixed({0: 0.0, 2: 1.0}))
    assert found[0].doc_id == third
    assert [place.doc_id for place in found].index(first) > 0
    assert found[0].signals[SIGNAL] == 1.0


def expected(built_index, encoder):
    """The second cosine of each place that its first one lets expect."""
    plain = ranked(built_index, encoder)
    return {place: BASE + SLOPE * hit.signals["cosine"] for place, hit in enumerate(plain)}


def test_a_document_without_a_vector_is_taken_to_have_the_expected_cosine(built_index, encoder):
    cosines = expected(built_index, encoder)
    everywhere = ranked(built_index, encoder, Fixed(cosines))
    one = ranked(built_index, encoder, Fixed({3: cosines[3]}))
    assert [hit.doc_id for hit in one] == [hit.doc_id for hit in everywhere]
    assert np.allclose([hit.score for hit in one], [hit.score for hit in everywhere], atol=1e-6)


def test_the_second_cosine_is_weighed_and_added(built_index, encoder):
    plain = {hit.doc_id: hit.score for hit in ranked(built_index, encoder)}
    config = replace(PLAIN, larger_weight=0.7)
    for hit in ranked(built_index, encoder, Fixed({0: 0.9, 4: 0.1}), config):
        assert np.isclose(hit.score, plain[hit.doc_id] + 0.7 * hit.signals[SIGNAL], atol=1e-6)


def test_without_vectors_the_ranking_is_the_first_encoders(built_index, encoder, home):
    def load():
        raise AssertionError("nothing is loaded where there are no vectors")

    plain = ranked(built_index, encoder)
    found = ranked(built_index, encoder, LargerModel(home, "larger", encoder.dim, load))
    assert [(hit.doc_id, hit.score) for hit in found] == [(hit.doc_id, hit.score) for hit in plain]


def test_a_vector_changes_the_score_of_its_own_document_alone(built_index, encoder):
    cosines = expected(built_index, encoder)
    order = [hit.doc_id for hit in ranked(built_index, encoder)]
    before, after = (
        {hit.doc_id: hit.score for hit in ranked(built_index, encoder, Fixed(given))}
        for given in ({1: cosines[1]}, {1: 0.9})
    )
    assert {doc_id for doc_id in before if after[doc_id] != before[doc_id]} == {order[1]}


def test_only_the_head_is_looked_up(built_index, encoder):
    larger = Fixed({})
    ranked(built_index, encoder, larger, replace(PLAIN, larger_count=3))
    assert larger.asked == [
        built_index.store.documents([hit.doc_id])[hit.doc_id][1][-1]
        for hit in ranked(built_index, encoder)[:3]
    ]


def test_keywords_alone_stay_keywords_alone(built_index, encoder):
    larger = Fixed({0: 1.0})
    ranked(built_index, encoder, larger, mode="lexical")
    assert larger.asked == []


def test_stored_vectors_give_the_cosines_of_the_larger_encoder(
    built_index, encoder, home, tokenizer_path: Path
):
    larger = HashEncoder(tokenizer_path, model_id="larger")
    cache = VectorCache(home, larger.model_id, larger.dim)
    upgrade(built_index, cache, larger)
    cache.close()
    found = ranked(built_index, encoder, LargerModel(home, "larger", larger.dim, lambda: larger))
    # The same encoder twice: where a vector is, both cosines agree up to the rounding to int8.
    assert all(abs(hit.signals[SIGNAL] - hit.signals["cosine"]) < 0.01 for hit in found)
    assert any(hit.signals[SIGNAL] > 0.1 for hit in found)
