"""A map is learned where there is something to learn, and is used by the index that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from codesearch.errors import ConfigError
from codesearch.index.adaptation import Adaptation, map_vectors, save_adaptation
from codesearch.index.reader import IndexReader
from codesearch.search import adapt
from codesearch.search.searcher import Searcher
from tests.conftest import TINY_REPO, HashEncoder, write_tree

DIM = 16
IndexTree = Callable[[Path], IndexReader]


def unit(rows: np.ndarray) -> np.ndarray:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def related(noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Answers, and queries in which two directions are swapped half way, besides noise."""
    chance = np.random.default_rng(1)
    answers = unit(chance.standard_normal((2000, DIM)))
    turned = answers + 0.7 * answers @ np.roll(np.eye(DIM), 1, axis=0)
    return unit(turned + noise * chance.standard_normal(answers.shape)), answers


def test_a_way_in_which_all_queries_differ_is_learned():
    queries, answers = related(noise=0.1)
    rows = np.arange(len(queries))
    matrix = adapt.learn(queries[:1600], answers[:1600])
    before = adapt.reciprocal_ranks(queries[1600:], answers, rows[1600:]).mean()
    after = adapt.reciprocal_ranks(map_vectors(matrix, queries[1600:]), answers, rows[1600:]).mean()
    assert after > before + 0.03


def test_the_gradient_is_that_of_the_loss():
    queries, answers = (rows[:8].astype(np.float64) for rows in related(noise=0.5))
    matrix = np.eye(DIM) + 0.1

    def loss(changed: np.ndarray) -> float:
        mapped = queries @ changed
        logits = mapped / np.linalg.norm(mapped, axis=1, keepdims=True) @ answers.T / 0.05
        return float(np.mean(np.log(np.exp(logits).sum(axis=1)) - np.diag(logits)))

    found = adapt._gradient(matrix, queries, answers)
    for place in ((0, 0), (3, 5), (15, 2)):
        step = np.zeros_like(matrix)
        step[place] = 1e-5
        expected = (loss(matrix + step) - loss(matrix - step)) / 2e-5
        assert found[place] == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_ranks_are_counted_among_all_answers_and_ties_against_the_right_one():
    answers = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    queries = np.array([[1, 0], [0.6, 0.8]], np.float32)
    assert adapt.reciprocal_ranks(queries, answers, np.array([0, 0])).tolist() == [1.0, pytest.approx(1 / 3)]
    assert adapt.reciprocal_ranks(queries[1:], answers, np.array([1])).tolist() == [0.5]


@pytest.mark.parametrize(
    ("after", "margin", "kept"), [(0.52, 0.01, True), (0.505, 0.001, False), (0.52, 0.03, False)]
)
def test_only_a_gain_that_is_large_and_sure_is_kept(after: float, margin: float, kept: bool):
    learned = adapt.Learned(Adaptation(np.eye(2, dtype=np.float32), "m", 1, 0.5, after, ""), margin)
    assert learned.is_kept is kept


def test_an_index_with_little_documentation_is_not_learned_from(tmp_path, encoder, index_tree: IndexTree):
    index = index_tree(write_tree(tmp_path / "tiny", TINY_REPO))
    with pytest.raises(ConfigError, match="documented functions, 500 are needed"):
        adapt.adapt(index, encoder)


def test_an_index_learns_from_its_documented_functions(
    tmp_path, encoder: HashEncoder, index_tree: IndexTree, monkeypatch
):
    monkeypatch.setattr(adapt, "MIN_PAIRS", 5)
    index = index_tree(write_tree(tmp_path / "tiny", TINY_REPO))
    learned = adapt.adapt(index, encoder)
    assert learned.adaptation.pairs == 8 and learned.adaptation.model == "hash"
    assert 0 < learned.adaptation.mrr_before <= 1 and 0 < learned.adaptation.mrr_after <= 1


def test_a_search_maps_its_query_as_the_index_learned(tmp_path, encoder: HashEncoder, index_tree: IndexTree):
    index = index_tree(write_tree(tmp_path / "tiny", TINY_REPO))
    plain = Searcher([index], encoder).search("sort a list", 20, mode="semantic")
    save_adaptation(index.folder, Adaptation(-np.eye(encoder.dim, dtype=np.float32), "hash", 1, 0, 1, ""))
    adapted = Searcher([IndexReader.open(index.folder)], encoder).search("sort a list", 20, mode="semantic")
    cosines = {hit.qualified_name: hit.signals["cosine"] for hit in plain}
    assert [hit.signals["cosine"] for hit in adapted] == pytest.approx(
        [-cosines[hit.qualified_name] for hit in adapted], abs=1e-6
    )
