"""Embed queries with the rows in a graph file, without ONNX Runtime."""

from dataclasses import replace

import numpy as np
import pytest

from codesearch.errors import ModelBundleError
from codesearch.text import onnx
from codesearch.text.bundle import SHIPPED, load_bundle
from codesearch.text.onnx import OnnxEncoder, RowSum

TABLE = np.random.default_rng(0).integers(-127, 128, (10, 4)).astype(np.int8)
WEIGHTS = np.random.default_rng(1).random(10, dtype=np.float32)
PLACES = {
    "table": {"offset": 3, "dtype": "int8", "shape": [10, 4]},
    "weights": {"offset": 45, "dtype": "float32", "shape": [10]},
}
QUERIES = ["convert int to string", "x", "", "parse the qzxvw header", "read file " * 40]


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "query.onnx"
    path.write_bytes(b"abc" + TABLE.tobytes() + b"de" + WEIGHTS.tobytes())
    return path


def test_rows_are_weighted_summed_and_scaled_to_unit_length(graph):
    ids = np.array([2, 7, 7], dtype=np.uint32)
    total = sum(WEIGHTS[i] * TABLE[i].astype(np.float64) for i in ids)
    (found,) = RowSum(graph, PLACES).encode([ids])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, total / np.linalg.norm(total), atol=1e-6)


def test_a_text_without_tokens_gives_zeros_and_no_texts_give_no_vectors(graph):
    rows = RowSum(graph, PLACES)
    assert rows.encode([np.empty(0, np.uint32)]).tolist() == [[0, 0, 0, 0]]
    assert rows.encode([]).shape == (0, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"table": PLACES["table"]},
        PLACES | {"weights": {**PLACES["weights"], "offset": 60}},
        PLACES | {"table": {**PLACES["table"], "dtype": "int7"}},
        PLACES | {"table": None},
    ],
    ids=["missing", "beyond the end", "no dtype", "no place"],
)
def test_missing_arrays_are_an_error_with_a_cure(graph, wrong):
    with pytest.raises(
        ModelBundleError, match=r"query\.onnx: no rows where .*install or export the model again"
    ):
        RowSum(graph, wrong)


def test_the_shipped_model_embeds_queries_as_its_graph_does(tmp_path):
    pytest.importorskip("onnxruntime")
    by_rows = OnnxEncoder.load(SHIPPED, "cpu")
    by_graph = OnnxEncoder(replace(load_bundle(SHIPPED), rows={}), "cpu")
    expected = by_graph.encode_queries(QUERIES)
    assert list(by_graph._sessions) == ["query.onnx"]
    np.testing.assert_allclose(by_rows.encode_queries(QUERIES), expected, atol=1e-6)
    assert np.linalg.norm(expected, axis=1).round(5).tolist() == [1, 1, 0, 1, 1]


def test_the_shipped_model_gives_the_same_vectors_with_and_without_a_runtime(monkeypatch):
    pytest.importorskip("onnxruntime")
    encoder = OnnxEncoder.load(SHIPPED, "cpu")
    tokens = [
        encoder.tokenizer.encode_document(text, 200, "python") for text in (*QUERIES, "x = x + x; " * 30)
    ]
    expected = encoder.encode_documents(tokens)
    assert list(encoder._sessions) == ["document.onnx"], "ONNX Runtime is not used though it is installed"
    by_rows = encoder.encode_passages(tokens)
    np.testing.assert_allclose(by_rows, expected, atol=1e-6)
    monkeypatch.setattr(onnx, "has_runtime", lambda: False)
    assert (encoder.encode_documents(tokens) == by_rows).all()
