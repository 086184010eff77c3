from typing import get_args

import numpy as np
import onnxruntime
import pytest
import torch

from codesearch.text.onnx import RowSum
from codesearch.text.tokenizer import padded
from exporters.onnx import row_places, tower_graph
from exporters.parity import BATCH_TOLERANCE, FP32_TOLERANCE, SMALL_COSINE, measure
from training.bpe import train_tokenizer
from training.config import Architecture, Pooling, SequenceModel, TrainConfig
from training.encoders.joint import JointEncoder

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
CASES = [
    *[(architecture, "token-weights", 1.0) for architecture in get_args(Architecture)],
    *[
        (architecture, pooling, 1.0)
        for architecture in ("nbow", "cnn-selfatt")
        for pooling in get_args(Pooling)
    ],
    ("nbow", "token-weights", 0.5),
    ("unif", "attention", 0.5),
    ("selfatt", "token-weights", 0.5),
]


@pytest.fixture(scope="module")
def tokenizer():
    return train_tokenizer(TEXTS * 3, 300)


def random_encoder(tokenizer, architecture, pooling, count_power=1.0, *, dim=DIM, **settings):
    """Return an encoder with random weights. None keeps its initial zero, so every weight has an effect."""
    torch.manual_seed(0)
    config = TrainConfig(
        architecture=architecture,
        pooling=pooling,
        count_power=count_power,
        dim=dim,
        layers=2,
        max_document_tokens=50,
        **settings,
    )
    model = JointEncoder(config, tokenizer.vocabulary_size, ["go"])
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    model.set_idf(torch.rand(tokenizer.vocabulary_size), 1.0)
    model.set_shares(torch.rand(tokenizer.vocabulary_size) / tokenizer.vocabulary_size)
    return model.eval()


def parity(tower, tokenizer, dtype, folder, limit):
    path = folder / "side.onnx"
    path.write_bytes(tower_graph(tower, dtype).SerializeToString())
    return measure(tower, path, *padded([tokenizer.encode(text, limit) for text in TEXTS]))


@pytest.mark.parametrize(("architecture", "pooling", "power"), CASES)
def test_graphs_equal_torch_with_any_batch_and_padding(architecture, pooling, power, tokenizer, tmp_path):
    model = random_encoder(tokenizer, architecture, pooling, power)
    for tower, limit in ((model.query, 30), (model.document("go"), 50)):
        whole = parity(tower, tokenizer, "fp32", tmp_path, limit)
        assert whole.max_abs_diff <= FP32_TOLERANCE
        assert whole.batch_diff <= BATCH_TOLERANCE
        for dtype in ("fp16", "int8"):
            small = parity(tower, tokenizer, dtype, tmp_path, limit)
            assert SMALL_COSINE < small.min_cosine <= 1.0001
            assert 0 < small.max_abs_diff < 0.02
            assert small.batch_diff <= BATCH_TOLERANCE


@pytest.mark.parametrize("dtype", ["fp32", "fp16", "int8"])
@pytest.mark.parametrize("pooling", ["mean", "attention", "token-weights"])
def test_the_row_sum_of_a_bag_graph_equals_torch(pooling, dtype, tokenizer, tmp_path):
    tower = random_encoder(tokenizer, "nbow", pooling).query
    path = tmp_path / "query.onnx"
    path.write_bytes(tower_graph(tower, dtype).SerializeToString())
    ids, mask = padded([tokenizer.encode(text, 30) for text in TEXTS])
    texts = [row[kept > 0].astype(np.uint32) for row, kept in zip(ids, mask, strict=True)]
    found = RowSum(path, row_places(path)).encode(texts)
    with torch.inference_mode():
        expected = tower(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-6 if dtype == "fp32" else 0.02)


@pytest.mark.parametrize(
    ("architecture", "pooling", "power"),
    [("ncs", "mean", 1.0), ("cnn", "token-weights", 1.0), ("selfatt", "mean", 1.0)],
)
def test_a_graph_that_does_more_than_add_has_no_row_places(architecture, pooling, power, tokenizer, tmp_path):
    tower = random_encoder(tokenizer, architecture, pooling, power).document("go")
    path = tmp_path / "document.onnx"
    path.write_bytes(tower_graph(tower, "int8").SerializeToString())
    assert row_places(path) == {}


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_the_row_sum_without_a_runtime_equals_the_document_graph(tokenizer, tmp_path, power):
    tower = random_encoder(tokenizer, "nbow", "token-weights", power).document("go")
    path = tmp_path / "document.onnx"
    path.write_bytes(tower_graph(tower, "int8").SerializeToString())
    ids = np.random.default_rng(0).integers(4, 30, (40, 25)) * (np.arange(25) < np.arange(1, 41)[:, None])
    mask = (ids > 0).astype(np.int64)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (expected,) = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
    texts = [row[kept > 0].astype(np.uint32) for row, kept in zip(ids, mask, strict=True)]
    assert max(np.unique(text, return_counts=True)[1].max() for text in texts) > 2, "no text repeats a token"
    np.testing.assert_allclose(RowSum(path, row_places(path)).encode(texts), expected, atol=1e-6)


def test_int8_products_of_the_width_of_a_trained_model_do_not_depend_on_the_batch(tokenizer, tmp_path):
    """By default ONNX Runtime rounds inputs of products this wide, with a kernel that depends on the batch."""
    tower = random_encoder(tokenizer, "cnn-selfatt", "token-weights", dim=128).document("go")
    path = tmp_path / "document.onnx"
    path.write_bytes(tower_graph(tower, "int8").SerializeToString())
    ids = np.random.default_rng(0).integers(4, tokenizer.vocabulary_size, (64, 50))
    mask = (np.arange(50) < np.arange(64)[:, None]).astype(np.int64)
    found = measure(tower, path, ids * mask, mask)
    assert found.batch_diff <= BATCH_TOLERANCE
    assert SMALL_COSINE < found.min_cosine <= 1.0001


def test_a_convolution_may_have_positions_and_an_even_width(tokenizer, tmp_path):
    model = random_encoder(tokenizer, "cnn", "mean", positions=True, kernel_size=4)
    assert parity(model.document("go"), tokenizer, "fp32", tmp_path, 50).max_abs_diff <= FP32_TOLERANCE


@pytest.mark.parametrize("architecture", ["nbow", "ncs", *get_args(SequenceModel)])
def test_the_embedding_of_a_text_without_tokens_is_zero(architecture, tokenizer):
    tower = random_encoder(tokenizer, architecture, "token-weights").document("go")
    session = onnxruntime.InferenceSession(
        tower_graph(tower, "int8").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    nothing = np.zeros((2, 3), dtype=np.int64)
    (embedding,) = session.run(["embedding"], {"input_ids": nothing, "attention_mask": nothing})
    assert embedding.shape == (2, DIM)
    assert not embedding.any()


@pytest.mark.parametrize(("dtype", "value_bytes"), [("fp32", 4), ("fp16", 2), ("int8", 1)])
def test_weights_are_stored_in_the_type_asked_for(dtype, value_bytes, tokenizer):
    tower = random_encoder(tokenizer, "selfatt", "mean").document("go")
    stored = {tensor.name: tensor for tensor in tower_graph(tower, dtype).graph.initializer}
    weights = [tensor for name, tensor in stored.items() if "_axis_" in name and "scales" not in name]
    shapes = sorted(tuple(tensor.dims) for tensor in weights)
    vocabulary = (tokenizer.vocabulary_size, DIM)
    assert shapes == sorted([vocabulary, *[(32, 96), (32, 32), (32, 64), (64, 32)] * 2])
    assert all(len(tensor.raw_data) == value_bytes * np.prod(tensor.dims) for tensor in weights)
