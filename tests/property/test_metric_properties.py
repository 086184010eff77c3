import math

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.compare import randomisation_test
from codesearch.evaluation.metrics import (
    bootstrap_intervals,
    group_means,
    ndcg,
    ndcg_within,
    recall_at_k,
    reciprocal_rank,
)

DOCUMENTS = st.sampled_from("abcdefghij")
RUNS = st.lists(DOCUMENTS, unique=True)
GRADES = st.dictionaries(DOCUMENTS, st.integers(0, 6).map(lambda half: half / 2), min_size=1).filter(
    lambda grades: any(grades.values())
)
SCORES = st.dictionaries(
    st.tuples(st.sampled_from(["go", "php"]), DOCUMENTS), st.floats(0, 1, width=16), min_size=1, max_size=12
)


@given(RUNS, GRADES, st.integers(1, 12))
def test_metrics_lie_within_0_and_1(run, grades, k):
    values = [ndcg(run, grades, k), ndcg_within(run, grades, k), recall_at_k(run, grades, k)]
    assert all(0 <= value <= 1 + 1e-12 for value in [*values, reciprocal_rank(run, grades, k)])


@given(GRADES)
def test_the_ideal_ranking_scores_1(grades):
    ideal = sorted(grades, key=lambda document: -grades[document])
    assert math.isclose(ndcg(ideal, grades), 1)


@given(RUNS, GRADES)
def test_ndcg_within_is_never_below_ndcg_all(run, grades):
    assert ndcg_within(run, grades) >= ndcg(run, grades) - 1e-12


@given(RUNS, GRADES, st.data())
def test_raising_a_better_document_by_one_place_never_lowers_ndcg(run, grades, data):
    if len(run) < 2:
        return
    place = data.draw(st.integers(1, len(run) - 1))
    swapped = [*run[: place - 1], run[place], run[place - 1], *run[place + 1 :]]
    if grades.get(run[place], 0) >= grades.get(run[place - 1], 0):
        assert ndcg(swapped, grades) >= ndcg(run, grades) - 1e-12


@given(SCORES)
def test_an_interval_stays_within_the_range_of_the_scores(scores):
    for low, high in bootstrap_intervals(scores).values():
        assert min(scores.values()) - 1e-9 <= low <= high <= max(scores.values()) + 1e-9


@given(SCORES)
def test_a_system_does_not_differ_from_itself(scores):
    assert set(randomisation_test(scores, scores).values()) == {1.0}
    assert group_means(scores).keys() == bootstrap_intervals(scores).keys()
