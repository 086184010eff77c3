import math

import pytest

from codesearch.evaluation.metrics import ndcg, ndcg_within, recall_at_k, reciprocal_rank

GRADES = {"a": 3.0, "b": 1.0, "c": 0.0}
IDEAL = 7 + 1 / math.log2(3)


def test_ndcg_of_values_worked_out_by_hand():
    assert ndcg(["a", "b"], GRADES) == pytest.approx(1)
    assert ndcg(["b", "a"], GRADES) == pytest.approx((1 + 7 / math.log2(3)) / IDEAL)
    assert ndcg(["x", "y", "a"], GRADES) == pytest.approx(7 / 2 / IDEAL)
    assert ndcg([], GRADES) == 0


def test_fractional_grades_have_fractional_gains():
    assert ndcg(["b", "a"], {"a": 1.5, "b": 0.5}) == pytest.approx(
        (2**0.5 - 1 + (2**1.5 - 1) / math.log2(3)) / (2**1.5 - 1 + (2**0.5 - 1) / math.log2(3))
    )


def test_a_relevant_document_that_cannot_be_found_lowers_ndcg():
    assert ndcg(["b"], GRADES) == pytest.approx(1 / IDEAL)


def test_ndcg_within_drops_unjudged_but_not_irrelevant_documents():
    assert ndcg_within(["x", "y", "a", "b"], GRADES) == pytest.approx(1)
    assert ndcg_within(["x", "c", "a"], GRADES) == pytest.approx(7 / math.log2(3) / IDEAL)


def test_ndcg_within_drops_unjudged_documents_after_the_cut_at_the_depth():
    run = [f"x{number}" for number in range(299)] + ["a", "b"]
    assert ndcg(run, GRADES) == pytest.approx(7 / math.log2(301) / IDEAL)
    assert ndcg_within(run, GRADES) == pytest.approx(7 / IDEAL)
    assert recall_at_k(run, GRADES, 300) == 0.5


def test_a_query_without_a_relevant_document_has_no_score():
    for metric in (lambda: ndcg(["c"], {"c": 0}), lambda: recall_at_k(["c"], {"c": 0}, 1)):
        with pytest.raises(ValueError, match="without a relevant document"):
            metric()


def test_reciprocal_rank_uses_the_first_relevant_document_within_the_depth():
    assert reciprocal_rank(["x", "b", "a"], {"a", "b"}) == 0.5
    assert reciprocal_rank(["x", "b"], {"b"}, depth=1) == 0
    assert reciprocal_rank(["x"], {"a"}) == 0
