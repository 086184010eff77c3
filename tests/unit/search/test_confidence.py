"""How confident a ranking is, and that nothing is said where nothing is known."""

from __future__ import annotations

import pytest

from codesearch.encoding.bundle import SHIPPED, load_bundle
from codesearch.evaluation.collection import open_collection
from codesearch.evaluation.options import BenchOptions
from codesearch.evaluation.stages import StageClock
from codesearch.evaluation.suites.smoke import FOLDER, document_key
from codesearch.search.confidence import shipped_calibration
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    options = BenchOptions(home=tmp_path_factory.mktemp("home"), device="cpu")
    with open_collection(FOLDER / "sources", options, StageClock(), document_key) as collection:
        yield Searcher([collection.index], collection.encoder)


def test_the_calibration_is_that_of_the_shipped_model():
    assert shipped_calibration().model == load_bundle(SHIPPED).model_id


@pytest.mark.parametrize(
    "query", ["convert int to string", "base64 encode", "levenshtein_distance", "quicksort"]
)
def test_what_is_there_has_confidence(smoke, query):
    found = smoke.answer(SearchRequest(query))
    assert found.hits and not found.low_confidence


@pytest.mark.parametrize(
    "query", ["render a 3d mesh with shadows", "play a chord on the midi keyboard", "train a neural network"]
)
def test_what_is_not_there_low_confidence_and_the_nearest_is_given_all_the_same(smoke, query):
    found = smoke.answer(SearchRequest(query))
    assert found.low_confidence and len(found.hits) == 10


def test_a_name_is_an_answer_whatever_its_words_are_worth(smoke):
    assert smoke.answer(SearchRequest("isAnagram")).confidence == 1.0


def test_a_conversion_is_only_answered_by_what_goes_its_way(smoke):
    def confidence(*paths: str) -> float | None:
        return smoke.answer(SearchRequest("convert int to string", filters=Filters(paths=paths))).confidence

    assert confidence() == 1.0
    assert (confidence("*.py") or 1.0) < 0.5


def test_one_half_alone_pasted_code_and_another_model_are_not_judged(smoke, encoder, index_tree, tiny_repo):
    assert smoke.answer(SearchRequest("render a mesh", mode="lexical")).confidence is None
    assert smoke.answer(SearchRequest("for (;;) { draw(mesh); }")).confidence is None
    other = Searcher([index_tree(tiny_repo)], encoder).answer(SearchRequest("render a mesh"))
    assert other.confidence is None and not other.low_confidence


def test_a_filter_that_leaves_the_answers_out_lowers_the_confidence(smoke):
    query = "levenshtein edit distance between two strings"
    found = [
        smoke.answer(SearchRequest(query, filters=filters)).confidence
        for filters in (Filters(), Filters(paths=("*units*",)))
    ]
    assert found[0] > 0.5 > found[1]
