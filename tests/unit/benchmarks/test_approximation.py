from pathlib import Path

import numpy as np
import pytest

from benchmarks.growth import approximation_loss
from codesearch.config import IndexConfig, VectorConfig
from codesearch.store.segments import IndexReader
from tests.conftest import only, write_tree

GRAPH = VectorConfig(hnsw_threshold=1)
QUERIES = ["int to string", "read lines", "int to string"]


def indexed(tree: Path, index_tree, config: VectorConfig) -> IndexReader:
    return index_tree(tree, config=IndexConfig(vectors=config))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    words = "read write sort parse open close list line file string number queue stack push pop".split()
    pairs = [(first, second) for first in words for second in words if first < second]
    return write_tree(
        tmp_path / "many",
        {"a.py": "".join(f"def {first}_{second}():\n    pass\n" for first, second in pairs)},
    )


def test_without_a_graph_nothing_is_lost(tree, index_tree, encoder):
    index = indexed(tree, index_tree, VectorConfig())
    assert approximation_loss(index, encoder, QUERIES) == {"in_use": False}


def test_what_a_graph_misses_is_counted(tree, index_tree, encoder, monkeypatch):
    pytest.importorskip("hnswlib")
    index = indexed(tree, index_tree, GRAPH)

    vectors = only(index).vectors

    def blind(query, count, ef_search):
        depth = count // 2  # The caller asks for twice as many neighbours.
        exact = np.argsort(-vectors.similarities(query), kind="stable")
        return exact[depth // 2 : depth // 2 + depth]

    monkeypatch.setattr(vectors, "neighbours", blind)
    found = approximation_loss(index, encoder, QUERIES)
    assert (found["recall_at_10"], found["recall_at_100"]) == (0.5, 0.5)
