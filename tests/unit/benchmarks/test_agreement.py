"""What one annotator foretells of the others."""

import pytest

from benchmarks.agreement import ANNOTATOR, CHANCE, graded_by_several, in_first, reachable, score

QUERY = ("go", "sort a list")


def test_annotators_of_one_mind_foretell_each_other_and_chance_does_not():
    grades = {"a": [3, 3], "b": [1, 1], "c": [0, 0]}
    found = score(grades, {"right": ["x", "a", "b", "c"], "wrong": ["c", "b", "a"]})
    assert found[ANNOTATOR] == found["right"] == 1.0
    assert found["wrong"] < found[CHANCE] < 1.0


def test_what_an_annotator_says_is_not_what_it_is_judged_by():
    found = score({"a": [3, 0], "b": [0, 3], "c": [3, 0]}, {})
    assert found[ANNOTATOR] < found[CHANCE]  # They disagree on everything.


def test_one_grade_foretells_none_and_what_the_index_lacks_counts_for_nobody():
    of_query = {"a": [3, 2], "b": [1, 1], "c": [0, 0], "d": [2], "e": [2, 2]}
    assert graded_by_several({QUERY: of_query}, {"a": "", "b": "", "c": "", "d": ""}) == {
        QUERY: {"a": [3, 2], "b": [1, 1], "c": [0, 0]}
    }
    assert not graded_by_several({QUERY: of_query}, {"a": "", "b": "", "d": ""})


def test_what_was_not_extracted_cannot_be_reached():
    assert reachable({QUERY: {"a": 3.0, "b": 3.0}}, {"a": "", "b": ""}) == 1.0
    assert reachable({QUERY: {"a": 3.0, "b": 3.0}}, {"b": ""}) == pytest.approx(0.6131, abs=1e-4)


def test_shares_by_grade_are_of_all_that_were_judged():
    qrels = {QUERY: {"a": 3.0, "b": 2.6, "c": 1.0}, ("php", "sort a list"): {"d": 3.0}}
    assert in_first({QUERY: ["c", "a", "b"]}, qrels, 2) == {1: 1.0, 3: pytest.approx(1 / 3, abs=1e-4)}
