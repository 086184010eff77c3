"""The confidence of a ranking, and rankings without one."""

import pytest

from codesearch.evaluation.judge import BenchOptions, Tree, open_collection
from codesearch.evaluation.suites import SMOKE, named_document, sample_tree
from codesearch.search.confidence import Confidence, features, shipped_calibration
from codesearch.search.request import Filters, SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.text.bundle import SHIPPED, load_bundle


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    options = BenchOptions(home=tmp_path_factory.mktemp("home"), device="cpu")
    with (
        sample_tree(SMOKE, options.home) as root,
        open_collection(Tree(root, lambda _: [], named_document), options) as collection,
    ):
        yield Searcher([collection.index], collection.encoder)


def test_the_calibration_belongs_to_the_shipped_model():
    assert shipped_calibration().model == load_bundle(SHIPPED).model_id


@pytest.mark.parametrize(
    "query", ["convert int to string", "base64 encode", "levenshtein_distance", "quicksort"]
)
def test_a_query_with_an_answer_has_a_high_confidence(smoke, query):
    found = smoke.answer(SearchRequest(query))
    assert found.hits and not found.low_confidence


@pytest.mark.parametrize(
    "query", ["render a 3d mesh with shadows", "play a chord on the midi keyboard", "train a neural network"]
)
def test_a_query_without_an_answer_has_a_low_confidence_and_still_gets_hits(smoke, query):
    found = smoke.answer(SearchRequest(query))
    assert found.low_confidence and len(found.hits) == SearchRequest().count


def test_an_exact_name_has_full_confidence(smoke):
    assert smoke.answer(SearchRequest("isAnagram")).confidence == Confidence(1.0, 1.0)
    assert smoke.answer(SearchRequest("isAnagram", min_confidence=1.0)).hits


def test_a_conversion_has_confidence_only_if_a_hit_has_its_direction(smoke):
    def confidence(*paths: str) -> float:
        return smoke.answer(
            SearchRequest("convert int to string", filters=Filters(paths=paths))
        ).confidence.answer

    assert confidence() == 1.0 > confidence("*.py")


def test_lexical_mode_pasted_code_and_another_model_have_no_confidence(smoke, encoder, index_tree, tiny_repo):
    assert smoke.answer(SearchRequest("render a mesh", mode="lexical")).confidence is None
    assert smoke.answer(SearchRequest("for (;;) { draw(mesh); }")).confidence is None
    other = Searcher([index_tree(tiny_repo)], encoder).answer(SearchRequest("render a mesh"))
    assert other.confidence is None and not other.low_confidence


def test_a_filter_that_excludes_the_answers_lowers_the_confidence(smoke):
    query = "levenshtein edit distance between two strings"
    found = [
        smoke.answer(SearchRequest(query, filters=filters)).confidence
        for filters in (Filters(), Filters(paths=("*units*",)))
    ]
    assert found[0].subject > 0.9 > 0.75 > found[1].subject
    assert found[0].answer > 0.8 > 0.7 > found[1].answer


def test_many_equally_good_documents_lower_the_confidence_but_not_that_in_the_subject(smoke):
    ranking = smoke.ranking(smoke.analyse("sort a list of numbers"))
    scores = ranking.scores[ranking.order()]
    known = features(ranking)
    assert known.gap == pytest.approx(scores[0] - scores[19]) and known.gap > 0.1
    clear, level = (shipped_calibration().confidence(known._replace(gap=gap)) for gap in (known.gap, 0.0))
    assert clear.answer > level.answer and clear.subject == level.subject >= clear.answer


def test_a_ranking_of_one_document_has_the_largest_gap(smoke):
    ranking = smoke.ranking(smoke.analyse("quicksort"), Filters(paths=("java/Text.java",)))
    assert features(ranking).gap == pytest.approx(ranking.scores.max())


def test_words_that_no_document_has_lower_the_confidence(smoke):
    def missing(query: str) -> float:
        return features(smoke.ranking(smoke.analyse(query)))[1]

    assert missing("copy") == 0.0 and missing("qwertz") == 1.0
    assert 0.5 < missing("copy qwertz") < 1.0


def test_the_cosine_is_the_highest_of_ten_documents_that_do_not_convert_the_other_way(smoke):
    for query in ("sort a list of numbers", "convert json to string"):
        ranking = smoke.ranking(smoke.analyse(query))
        first = ranking.order()[:10]
        cosines = kept = ranking.signals["cosine"][first]
        if query.startswith("convert"):
            kept = cosines[ranking.signals["direction"][first] >= 0]
        assert features(ranking)[0] == kept.max() != cosines[0]
