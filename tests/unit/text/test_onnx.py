"""Unit vectors from the graphs of a bundle, devices, and missing packages."""

import json
import pickle
import shutil
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from codesearch.errors import ConfigError, MissingExtraError, ModelBundleError
from codesearch.installation import how_to_add
from codesearch.text import onnx as encoder_module
from codesearch.text.onnx import OnnxEncoder, choose_device
from tests.tiny_bundle import DIM, VOCABULARY, write_bundle, write_manifest

pytest.importorskip("onnxruntime")
TABLE = np.random.default_rng(0).standard_normal((VOCABULARY, DIM)).astype(np.float32)


@pytest.fixture(scope="module")
def onnx(tiny_bundle: Path) -> OnnxEncoder:
    return OnnxEncoder.load(tiny_bundle, "cpu")


def by_hand(ids: list[int]) -> np.ndarray:
    mean = TABLE[ids].mean(axis=0)
    return mean / np.linalg.norm(mean)


def documents_of(*lengths: int) -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    return [generator.integers(1, VOCABULARY, length).astype(np.uint32) for length in lengths]


def test_documents_are_embedded_as_computed_by_hand(onnx):
    documents = documents_of(3, 1, 17)
    vectors = onnx.encode_documents(documents)
    assert (vectors.dtype, vectors.shape) == (np.float32, (3, DIM))
    np.testing.assert_allclose(vectors, [by_hand(ids) for ids in documents], atol=1e-6)


def test_vectors_have_the_order_of_the_documents_over_many_batches(onnx, monkeypatch):
    documents = documents_of(*np.random.default_rng(2).integers(1, 60, 300).tolist())
    monkeypatch.setattr(encoder_module, "BATCH_TOKENS", 500)
    vectors = onnx.encode_documents(documents)
    np.testing.assert_allclose(vectors, [by_hand(ids) for ids in documents], atol=1e-6)


def test_a_batch_is_within_the_token_limit_and_has_at_least_one_document(onnx, monkeypatch):
    shapes = []
    real = onnx._run
    monkeypatch.setattr(onnx, "_run", lambda graph, tokens: shapes.append(tokens) or real(graph, tokens))
    monkeypatch.setattr(encoder_module, "BATCH_TOKENS", 20)
    onnx.encode_documents(documents_of(5, 5, 5, 5, 5, 30, 2))
    assert [[len(ids) for ids in batch] for batch in shapes] == [[2, 5, 5, 5], [5, 5], [30]]


def test_padding_changes_nothing(onnx):
    short, long = documents_of(2, 50)
    alone = onnx.encode_documents([short])[0]
    np.testing.assert_allclose(onnx.encode_documents([long, short])[1], alone, atol=1e-6)


def test_a_document_without_ids_is_the_zero_vector(onnx):
    vectors = onnx.encode_documents([np.empty(0, np.uint32), *documents_of(3), np.empty(0, np.uint32)])
    assert not vectors[0].any()
    assert not vectors[2].any()
    np.testing.assert_allclose(np.linalg.norm(vectors[1]), 1, atol=1e-6)


def test_no_documents_give_no_vectors(onnx):
    assert onnx.encode_documents([]).shape == (0, DIM)


def test_a_query_is_embedded_by_its_ids_and_cut_at_its_own_limit(onnx):
    ids = onnx.tokenizer.encode("convert an integer to a string", 32).tolist()
    np.testing.assert_allclose(
        onnx.encode_queries(["convert an integer to a string"])[0], by_hand(ids), atol=1e-6
    )
    long = "string " * 32 + "integer " * 100
    np.testing.assert_allclose(onnx.encode_queries([long])[0], onnx.encode_queries(["string"])[0], atol=1e-6)


def test_a_query_without_words_is_the_zero_vector(onnx):
    assert not onnx.encode_queries(["?!", ""]).any()


def test_a_query_never_opens_the_document_graph(tiny_bundle):
    encoder = OnnxEncoder.load(tiny_bundle, "cpu")
    encoder.encode_queries(["string"])
    assert list(encoder._sessions) == ["query.onnx"]


def test_an_encoder_can_be_pickled(onnx):
    documents = documents_of(4)
    expected = onnx.encode_documents(documents)
    crossed = pickle.loads(pickle.dumps(onnx))
    assert (crossed.model_id, crossed.device) == (onnx.model_id, onnx.device)
    assert (crossed.encode_documents(documents) == expected).all()


def test_a_graph_that_cannot_be_opened_is_named(tiny_bundle, tmp_path):
    bundle = Path(shutil.copytree(tiny_bundle, tmp_path / "bundle"))
    (bundle / "document.onnx").write_bytes(b"no graph")
    manifest = json.loads((bundle / "manifest.json").read_text())
    write_manifest(bundle, manifest)
    with pytest.raises(ModelBundleError, match=r"document\.onnx: ONNX Runtime cannot open it"):
        OnnxEncoder.load(bundle, "cpu").encode_documents(documents_of(2))


def test_a_graph_whose_width_differs_from_the_manifest_is_named(tmp_path, tokenizer_path):
    bundle = write_bundle(tmp_path / "bundle", tokenizer_path, dim=16)
    manifest = json.loads((bundle / "manifest.json").read_text())
    write_manifest(bundle, {**manifest, "dim": 24})
    with pytest.raises(ModelBundleError, match=r"document\.onnx: .*16.*24"):
        OnnxEncoder.load(bundle, "cpu").encode_documents(documents_of(2))


def test_an_unknown_device_lists_the_known_ones():
    with pytest.raises(ConfigError) as caught:
        choose_device("tpu")
    assert str(caught.value) == "device 'tpu': choose one of auto, cpu, cuda"


def test_auto_without_a_driver_is_the_cpu(monkeypatch):
    monkeypatch.setattr(encoder_module, "has_driver", lambda: False)
    assert choose_device("auto") == choose_device("cpu") == "cpu"


EXCHANGE = how_to_add("onnxruntime-gpu", without=["onnxruntime"])


@pytest.mark.parametrize(
    ("driver", "providers", "cure"),
    [
        (False, ["CPUExecutionProvider"], EXCHANGE),
        (True, ["CPUExecutionProvider"], EXCHANGE),
        (False, ["CUDAExecutionProvider", "CPUExecutionProvider"], "install the NVIDIA driver"),
    ],
    ids=["neither", "driver only", "build only"],
)
def test_unavailable_cuda_is_an_error_with_its_cure(monkeypatch, driver, providers, cure):
    runtime = types.SimpleNamespace(get_available_providers=lambda: providers)
    monkeypatch.setattr(encoder_module, "onnx_runtime", lambda: runtime)
    monkeypatch.setattr(encoder_module, "has_driver", lambda: driver)
    with pytest.raises(ConfigError) as caught:
        choose_device("cuda")
    assert str(caught.value) == f"device cuda: not available here: {cure}, or use --device cpu"


def test_cuda_without_a_runtime_names_the_package_to_install(monkeypatch):
    monkeypatch.setattr(encoder_module, "has_runtime", lambda: False)
    with pytest.raises(MissingExtraError, match="^onnxruntime-gpu is not installed"):
        choose_device("cuda")


def test_cuda_is_used_if_driver_and_runtime_are_installed(monkeypatch):
    runtime = types.SimpleNamespace(get_available_providers=lambda: ["CUDAExecutionProvider"])
    monkeypatch.setattr(encoder_module, "onnx_runtime", lambda: runtime)
    monkeypatch.setattr(encoder_module, "has_driver", lambda: True)
    assert choose_device("auto") == choose_device("cuda") == "cuda"


def test_a_session_that_fell_back_to_the_cpu_is_an_error(tiny_bundle, monkeypatch):
    import onnxruntime

    monkeypatch.setattr(encoder_module, "choose_device", lambda device: device)
    real = onnxruntime.InferenceSession
    monkeypatch.setattr(onnxruntime, "preload_dlls", lambda: None, raising=False)
    monkeypatch.setattr(
        onnxruntime,
        "InferenceSession",
        lambda path, options, providers: real(path, options, providers=["CPUExecutionProvider"]),
    )
    with pytest.raises(ConfigError, match="device cuda: ONNX Runtime fell back to the CPU"):
        OnnxEncoder.load(tiny_bundle, "cuda").encode_queries(["string"])


def test_a_missing_runtime_is_an_error_with_the_command_that_adds_it(tiny_bundle, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError) as caught:
        OnnxEncoder.load(tiny_bundle, "cpu").encode_queries(["string"])
    assert str(caught.value) == f"onnxruntime is not installed: {how_to_add('onnxruntime')}"


def test_a_graph_for_a_language_without_a_token_is_an_error(tiny_bundle, tmp_path):
    folder = tmp_path / "bundle"
    shutil.copytree(tiny_bundle, folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    write_manifest(folder, manifest | {"document_graphs": {"go": "document.onnx"}})
    with pytest.raises(ModelBundleError, match="no token of go"):
        OnnxEncoder.load(folder, "cpu")


@pytest.mark.parametrize(
    "said",
    [
        "Non-zero status code returned while running Cast node. Status Message: std::bad_alloc",
        "AllocateRawInternal(size_t) Failed to allocate memory for requested buffer of size 12549120",
        "open file failed: cannot create shared memory object",
    ],
)
def test_a_runtime_without_memory_is_no_defect_and_no_damage(onnx, monkeypatch, said):
    class Refusing:
        def __init__(self, *_, **__):
            if "shared" in said:
                raise RuntimeError(said)

        def run(self, *_):
            raise RuntimeError(said)

    monkeypatch.setattr(onnx, "_sessions", {})
    monkeypatch.setattr(encoder_module.onnx_runtime(), "InferenceSession", Refusing)
    with pytest.raises(MemoryError, match="there is not enough memory"):
        onnx.encode_documents(documents_of(3))
