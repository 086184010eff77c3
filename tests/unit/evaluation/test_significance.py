from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from codesearch.evaluation.significance import bootstrap_intervals, group_means, randomisation_test


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


def test_the_p_value_agrees_with_the_exact_one_over_all_swaps():
    first, second = [0.1, 0.4, 0.3, 0.5, 0.2, 0.6], [0.3, 0.5, 0.2, 0.9, 0.4, 0.8]
    differences = np.subtract(second, first)
    seen = abs(differences.sum()) - 1e-12
    exact = np.mean([abs(differences @ signs) >= seen for signs in product([-1, 1], repeat=6)])
    found = randomisation_test(scores_of(first), scores_of(second))
    assert found["go"] == pytest.approx(exact, abs=0.015)
    assert found["average"] == found["go"]


def test_the_p_value_is_small_if_every_query_improves_and_1_if_none_changes():
    first = scores_of([0.1 + number / 100 for number in range(30)])
    better = {query: score + 0.1 for query, score in first.items()}
    assert randomisation_test(first, better)["average"] < 0.001
    assert randomisation_test(first, first)["average"] == 1


def test_scores_of_other_queries_are_refused():
    with pytest.raises(ValueError, match="cannot be paired"):
        randomisation_test(scores_of([1]), scores_of([1, 0]))


def test_intervals_and_p_values_are_the_same_every_time():
    first, second = scores_of([0.2, 0.4, 0.9]), scores_of([0.3, 0.1, 0.8])
    assert bootstrap_intervals(first) == bootstrap_intervals(first)
    assert randomisation_test(first, second) == randomisation_test(first, second)
