"""Quantized vectors, exact similarities, and the graph whose results are scored again."""

import numpy as np
import pytest

from codesearch.config import VectorConfig
from codesearch.errors import IndexCorruptError
from codesearch.store.digest import describe_files
from codesearch.store.vectors import VectorReader, VectorWriter, quantize
from tests.tiny_bundle import change_one_byte

GRAPH = "vectors.hnsw"


def unit_vectors(count: int, dim: int = 64, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def written(folder, vectors: np.ndarray, config: VectorConfig | None = None) -> VectorReader:
    writer = VectorWriter(folder, vectors.shape[1])
    for part in np.array_split(vectors, 3):
        writer.add(*quantize(part))
    writer.finish(config or VectorConfig())
    files = describe_files(folder)
    return VectorReader(folder, len(vectors), vectors.shape[1], root="root", files=files)


def restored(reader: VectorReader) -> np.ndarray:
    return reader.rows.astype(np.float32) * reader.scales[:, None]


def test_the_largest_component_uses_the_whole_range():
    rows, scales = quantize(np.array([[0.5, -1.0, 0.25], [0, 0, 0]], np.float32))
    assert rows.tolist() == [[64, -127, 32], [0, 0, 0]]
    assert scales.tolist() == [pytest.approx(1 / 127), 0.0]


def test_similarities_are_the_cosines_of_the_stored_rows(tmp_path):
    reader = written(tmp_path, unit_vectors(20_000))
    query = unit_vectors(1, seed=1)[0]
    np.testing.assert_allclose(reader.similarities(query), restored(reader) @ query, atol=1e-6)


@pytest.mark.parametrize("dim", [32, 128, 200, 256])
def test_equal_vectors_have_equal_similarities_at_any_position(tmp_path, dim):
    vector, query = unit_vectors(2, dim)
    reader = written(tmp_path, np.repeat(vector[None], 23, axis=0))
    for count in (1, 2, 3, 5, 7, 11, 23):
        some = reader.similarities(query, np.arange(count))
        assert set(some.tolist()) == {float(reader.similarities(query, np.array([0]))[0])}, count


@pytest.mark.parametrize("count", [1, 10, 1_000, 25_000])
def test_the_nearest_are_those_of_a_full_sort(tmp_path, monkeypatch, count):
    monkeypatch.setattr("codesearch.processes.available_cores", lambda: 3)
    # A rounded query cannot distinguish vectors that are so close.
    close = unit_vectors(1)[0] + 0.01 * unit_vectors(20_000)
    reader = written(tmp_path, close / np.linalg.norm(close, axis=1, keepdims=True))
    query = unit_vectors(1, seed=1)[0]
    exact = np.argsort(-reader.similarities(query), kind="stable")[:count]
    assert sorted(reader.nearest(query, count).tolist()) == sorted(exact.tolist())


def test_the_nearest_are_exact_if_only_float32_rounding_separates_them(tmp_path):
    query = np.full(64, 1 / 8, np.float32)  # It is not changed by its rounding to int8.
    reader = written(tmp_path, query + 0.001 * unit_vectors(5_000))
    best = np.argsort(-reader.similarities(query), kind="stable")
    for count in range(1_000, 4_000, 20):
        assert set(reader.nearest(query, count).tolist()) == set(best[:count].tolist()), count


def test_the_nearest_of_some_documents_are_exact(tmp_path):
    reader = written(tmp_path, unit_vectors(3_000))
    query = unit_vectors(1, seed=1)[0]
    some = np.arange(0, 3_000, 7)
    exact = some[np.argsort(-reader.similarities(query, some), kind="stable")[:20]]
    assert sorted(reader.nearest(query, 20, some).tolist()) == sorted(exact.tolist())
    assert reader.nearest(query, 20, some[:5]).tolist() == some[:5].tolist()


@pytest.mark.parametrize(
    "spans", [[(0, 9_000)], [(5, 6)], [(1_000, 1_001), (1_400, 1_500), (4_000, 13_000), (19_999, 20_000)]]
)
def test_the_nearest_of_several_ranges_of_documents_are_exact(tmp_path, monkeypatch, spans):
    monkeypatch.setattr("codesearch.processes.available_cores", lambda: 3)
    reader = written(tmp_path, unit_vectors(20_000))
    query = unit_vectors(1, seed=1)[0]
    some = np.concatenate([np.arange(start, end) for start, end in spans])
    count = max(1, len(some) // 2)
    exact = some[np.argsort(-reader.similarities(query, some), kind="stable")[:count]]
    assert sorted(reader.nearest(query, count, some).tolist()) == sorted(exact.tolist())
    for _, end in spans:
        assert end - 1 in reader.nearest(restored(reader)[end - 1], 1, some)


@pytest.mark.parametrize("count", [1, 2])
def test_the_nearest_of_vectors_along_the_rounding_of_the_query_are_exact(tmp_path, count):
    """The first of a pair seems too near and the second too far, each by nearly the whole error of the rough search."""
    for number, query in enumerate(unit_vectors(20, seed=2)):
        (rounded,), (scale,) = quantize(query[None])
        missing = query - rounded * scale
        missing /= np.linalg.norm(missing)
        pairs = np.array([0.3 * query - missing, 0.302 * query + missing] * 2, np.float32)
        folder = tmp_path / str(number)
        folder.mkdir()
        reader = written(folder, pairs / np.linalg.norm(pairs, axis=1, keepdims=True))
        best = np.argsort(-reader.similarities(query), kind="stable")[:count]
        assert sorted(reader.nearest(query, count).tolist()) == sorted(best.tolist())


def test_the_first_of_equal_vectors_are_the_nearest(tmp_path):
    vectors = unit_vectors(2)
    reader = written(tmp_path, np.repeat(vectors, 500, axis=0))
    assert sorted(reader.nearest(vectors[1], 30).tolist()) == list(range(500, 530))


def test_an_error_in_a_thread_is_raised(tmp_path, monkeypatch):
    monkeypatch.setattr("codesearch.processes.available_cores", lambda: 2)
    reader = written(tmp_path, np.tile(unit_vectors(1_000), (20, 1)))
    with pytest.raises(ValueError, match="dimensions"):
        reader.nearest(np.ones(3, np.float32), 10)


def test_an_index_without_documents_has_no_similarities(tmp_path):
    reader = written(tmp_path, np.empty((0, 8), np.float32))
    assert reader.similarities(np.ones(8, np.float32)).tolist() == []
    assert reader.nearest(np.ones(8, np.float32), 10).tolist() == []


def test_a_file_of_the_wrong_size_is_a_corrupt_index(tmp_path):
    written(tmp_path, unit_vectors(10))
    for name in ("vectors.scales", "vectors.int8"):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(IndexCorruptError, match=name):
            VectorReader(tmp_path, 10, 64, root="root")


LOW = VectorConfig(hnsw_threshold=100)


def test_no_graph_is_built_below_the_threshold(tmp_path):
    pytest.importorskip("hnswlib")
    assert not written(tmp_path, unit_vectors(99), LOW).has_graph


def test_the_graph_finds_nearly_all_of_the_exact_nearest(tmp_path):
    pytest.importorskip("hnswlib")
    reader = written(tmp_path, unit_vectors(2_000), LOW)
    assert reader.has_graph
    found = 0
    for query in unit_vectors(20, seed=1):
        exact = set(np.argsort(-reader.similarities(query), kind="stable")[:10].tolist())
        found += len(exact & set(reader.neighbours(query, 10, 400).tolist()))
    assert found >= 196, "recall below .98 over 20 queries"


def test_the_graph_gives_at_most_all_documents(tmp_path):
    pytest.importorskip("hnswlib")
    reader = written(tmp_path, unit_vectors(150), LOW)
    assert sorted(reader.neighbours(unit_vectors(1)[0], 1_000, 400).tolist()) == list(range(150))


def test_if_the_graph_reaches_too_few_documents_the_search_is_exact(tmp_path):
    pytest.importorskip("hnswlib")
    vectors = np.repeat(unit_vectors(4), 500, axis=0)  # Equal vectors link only to each other.
    reader = written(tmp_path, vectors, LOW)
    found = reader.neighbours(vectors[0], 1_990, 400)
    assert len(set(found.tolist())) == 1_990
    assert set(range(500)) <= set(found.tolist())


def test_the_same_vectors_give_the_same_graph(tmp_path):
    pytest.importorskip("hnswlib")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        written(tmp_path / name, unit_vectors(150), LOW)
    query = unit_vectors(1, seed=1)[0]
    a, b = (written(tmp_path / name, unit_vectors(150), LOW) for name in ("a", "b"))
    assert a.neighbours(query, 20, 400).tolist() == b.neighbours(query, 20, 400).tolist()


def test_a_flipped_byte_of_the_graph_is_noticed_before_it_is_loaded(tmp_path):
    pytest.importorskip("hnswlib")
    reader = written(tmp_path, unit_vectors(150), LOW)
    change_one_byte(tmp_path / GRAPH)
    with pytest.raises(IndexCorruptError, match=GRAPH):
        reader.neighbours(unit_vectors(1)[0], 10, 400)


def test_without_the_extra_no_graph_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr("codesearch.store.vectors.hnsw_available", lambda: False)
    reader = written(tmp_path, unit_vectors(150), LOW)
    assert not reader.has_graph
    assert not (tmp_path / GRAPH).exists()
