import numpy as np

from benchmarks.embedding import Stopwatch, function_texts, throughput, ways
from codesearch.text.bundle import SHIPPED
from codesearch.text.onnx import OnnxEncoder

TOKENS = [np.array([number, 2], dtype=np.uint32) for number in range(3)]


def test_functions_are_repeated_up_to_the_wanted_number():
    seen = []
    row = throughput(seen.extend, Stopwatch(), TOKENS, 8, limit_s=60)
    assert [int(ids[0]) for ids in seen[1:]] == [0, 1, 2, 0, 1, 2, 0, 1]  # The first call is a warm-up.
    assert row["functions"] == 8
    assert row["outside_model"] == 1  # No time was measured in the model.


def test_a_measurement_stops_after_the_batch_that_passes_the_time_limit():
    row = throughput(lambda batch: None, Stopwatch(), TOKENS, 50_000, limit_s=1e-9)
    assert row["functions"] < 50_000


def test_each_way_to_embed_measures_the_time_in_the_model():
    encoder = OnnxEncoder.load(SHIPPED, "cpu")
    shapes = {}
    for name, embed, watch in ways(encoder):
        assert watch.seconds == 0
        shapes[name] = embed(TOKENS).shape
        assert watch.seconds > 0
    assert {"ONNX Runtime, cpu", "numpy, cpu"} <= shapes.keys()
    assert set(shapes.values()) == {(3, encoder.dim)}


def test_texts_are_made_from_the_functions_of_a_tree(tmp_path):
    (tmp_path / "a.py").write_text('def add(x, y):\n    """Sum."""\n    return x + y\n')
    assert [text.splitlines()[:2] for text in function_texts(tmp_path)] == [["a add", "Sum."]]
