"""Embedding on a CUDA device: ONNX Runtime gives the CPU's vectors, and both it and torch are fast."""

import time
from glob import glob

import numpy as np
import pytest

if not glob("/dev/nvidia[0-9]*"):
    pytest.skip("no NVIDIA device", allow_module_level=True)

from codesearch.text.bundle import QUERY, SHIPPED
from codesearch.text.onnx import OnnxEncoder, has_runtime, onnx_runtime, open_session
from codesearch.text.tokenizer import padded

if not has_runtime() or "CUDAExecutionProvider" not in onnx_runtime().get_available_providers():
    pytest.skip("no CUDA build of ONNX Runtime", allow_module_level=True)

pytestmark = pytest.mark.gpu
QUERIES = ["parse a json file", "read lines", "retry with exponential backoff", "x"]


def made_documents(encoder, count):
    """Return the token ids of documents of 5 to 200 tokens."""
    draw = np.random.default_rng(0)
    size = encoder.tokenizer.vocabulary_size
    return [draw.integers(4, size, length).astype(np.int64) for length in draw.integers(5, 200, count)]


def cosines(left, right):
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return (left * right).sum(axis=1) / lengths


def test_documents_have_the_vectors_of_the_cpu():
    on_gpu, on_cpu = (OnnxEncoder.load(SHIPPED, device) for device in ("cuda", "cpu"))
    documents = made_documents(on_cpu, 2_000)
    found = cosines(on_gpu.encode_documents(documents), on_cpu.encode_documents(documents))
    assert on_gpu.device == "cuda"
    assert found.min() > 0.9999


def test_queries_have_the_vectors_of_the_cpu():
    encoder = OnnxEncoder.load(SHIPPED, "cpu")
    ids, mask = padded([encoder.tokenizer.encode(query, 30) for query in QUERIES])
    session = open_session(encoder.bundle.folder / QUERY, "cuda", threads=1)
    (vectors,) = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
    assert cosines(vectors, encoder.encode_queries(QUERIES)).min() > 0.9999


def test_the_shipped_model_embeds_ten_thousand_functions_a_second(record_property):
    encoder = OnnxEncoder.load(SHIPPED, "cuda")
    documents = made_documents(encoder, 40_000)
    encoder.encode_documents(documents[:2_000])
    started = time.perf_counter()
    encoder.encode_documents(documents)
    rate = len(documents) / (time.perf_counter() - started)
    record_property("functions_per_s", round(rate))
    assert rate > 10_000


@pytest.mark.parametrize(("dtype", "least"), [("float32", 2_000), ("bfloat16", 4_000)])
def test_six_layers_of_attention_embed_thousands_of_functions_a_second(dtype, least, record_property):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    from training.build import build_model
    from training.config import TrainConfig
    from training.evaluation.mrr import encode_texts

    config = TrainConfig(
        architecture="bert", dim=384, layers=6, heads=12, hidden_dim=1_536, max_document_tokens=128
    )
    tower = build_model(config, 24_000, languages=["go"]).query.eval().to("cuda")
    draw = np.random.default_rng(0)
    texts = [draw.integers(4, 24_000, length) for length in draw.integers(20, 129, 20_000)]
    with torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"):
        encode_texts(tower, texts[:2_000], torch.device("cuda"))
        torch.cuda.synchronize()
        started = time.perf_counter()
        vectors = encode_texts(tower, texts, torch.device("cuda"))
        torch.cuda.synchronize()
    rate = len(texts) / (time.perf_counter() - started)
    record_property(f"functions_per_s_{dtype}", round(rate))
    assert bool(vectors.isfinite().all())
    assert rate > least
