import numpy as np
import pytest

from codesearch.evaluation.metrics import bootstrap_intervals, group_means


def scores_of(values: list[float], group: str = "go") -> dict[tuple[str, str], float]:
    return {(group, f"q{number:02}"): value for number, value in enumerate(values)}


def test_every_group_has_the_same_weight_in_the_average():
    scores = {**scores_of([1, 1, 1, 0]), ("php", "q00"): 0.25}
    assert group_means(scores) == {"go": 0.75, "php": 0.25, "average": 0.5}


def test_the_interval_of_normal_scores_agrees_with_the_normal_distribution():
    values = np.random.default_rng(5).normal(0.5, 0.1, 200).tolist()
    low, high = bootstrap_intervals(scores_of(values))["go"]
    error = 1.96 * np.std(values) / 200**0.5
    assert low == pytest.approx(np.mean(values) - error, abs=0.001)
    assert high == pytest.approx(np.mean(values) + error, abs=0.001)


def test_a_query_is_sampled_with_its_scores_in_all_groups():
    values = [0.0, 1.0] * 20
    alike = {**scores_of(values), **scores_of(values, "php")}
    opposite = {**scores_of(values), **scores_of([1 - value for value in values], "php")}
    low, high = bootstrap_intervals(alike)["average"]
    assert high - low > 0.25
    assert bootstrap_intervals(opposite)["average"] == (0.5, 0.5)


def test_intervals_are_the_same_every_time():
    scores = scores_of([0.2, 0.4, 0.9])
    assert bootstrap_intervals(scores) == bootstrap_intervals(scores)
