import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

from codesearch.encoding.tokenizer import SubtokenTokenizer  # noqa: E402
from exporters.onnx import bag_graph  # noqa: E402
from exporters.parity import BATCH_TOLERANCE, FP32_TOLERANCE, INT8_COSINE, measure, padded_texts  # noqa: E402
from training.encoders.nbow import NBowEncoder  # noqa: E402

DIM = 32
TEXTS = [
    "read a file into lines",
    "def read_lines(path):\n    with open(path) as file:\n        return file.readlines()",
    "x",
    "",
    "the same word word word word word",
    "func (r *Reader) ReadLine() (line []byte, isPrefix bool, err error) {\n\treturn r.buf, false, nil\n}\n"
    * 9,
]


@pytest.fixture(scope="module")
def tokenizer():
    return SubtokenTokenizer.train(TEXTS * 3, 300)


@pytest.fixture(scope="module")
def tower(tokenizer):
    torch.manual_seed(0)
    tower = NBowEncoder(tokenizer.vocabulary_size, DIM).query
    torch.nn.init.normal_(tower.log_weight)
    return tower


def parity(tower, tokenizer, dtype, folder):
    path = folder / "side.onnx"
    path.write_bytes(bag_graph(tower, dtype).SerializeToString())
    return measure(tower, path, *padded_texts(TEXTS, tokenizer, 50))


def test_fp32_graph_equals_torch_whatever_the_batch_and_padding(tower, tokenizer, tmp_path):
    found = parity(tower, tokenizer, "fp32", tmp_path)
    assert found.max_abs_diff <= FP32_TOLERANCE
    assert found.batch_diff <= BATCH_TOLERANCE


def test_int8_graph_keeps_the_direction_whatever_the_batch_and_padding(tower, tokenizer, tmp_path):
    found = parity(tower, tokenizer, "int8", tmp_path)
    assert INT8_COSINE < found.min_cosine <= 1.0001
    assert 0 < found.max_abs_diff < 0.02
    assert found.batch_diff <= BATCH_TOLERANCE


def test_graph_gives_zeros_for_a_text_without_tokens(tower):
    session = onnxruntime.InferenceSession(
        bag_graph(tower, "int8").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    nothing = np.zeros((2, 3), dtype=np.int64)
    (embedding,) = session.run(["embedding"], {"input_ids": nothing, "attention_mask": nothing})
    assert embedding.shape == (2, DIM)
    assert not embedding.any()


def test_int8_table_is_stored_in_a_byte_a_value(tower):
    stored = {tensor.name: tensor for tensor in bag_graph(tower, "int8").graph.initializer}
    assert len(stored["rows"].raw_data) == tower.table.weight.numel()
