"""Only a complete and valid bundle is loaded. An error names the bad file."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from codesearch.errors import ModelBundleError
from codesearch.text.bundle import MANIFEST, QUERY, load_bundle
from tests.tiny_bundle import FILES, change_one_byte, write_bundle


@pytest.fixture
def bundle(tiny_bundle: Path, tmp_path: Path) -> Path:
    """Return a copy that a test may damage."""
    return Path(shutil.copytree(tiny_bundle, tmp_path / "bundle"))


def rewrite(bundle: Path, **changes: object) -> None:
    path = bundle / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest.update(changes)
    path.write_text(json.dumps({key: value for key, value in manifest.items() if value is not None}))


def test_a_valid_bundle_has_the_fields_of_its_manifest(bundle):
    loaded = load_bundle(bundle)
    assert (loaded.folder, loaded.name, loaded.architecture) == (bundle, "tiny", "bag of random vectors")
    assert (loaded.dim, loaded.max_query_tokens, loaded.max_document_tokens) == (32, 32, 200)
    assert (loaded.licence, len(loaded.model_id)) == ("MIT", 16)


def test_the_id_depends_only_on_the_files(bundle, tmp_path, tokenizer_path):
    before = load_bundle(bundle).model_id
    rewrite(bundle, name="renamed", metrics={"mrr": 0.5})
    assert load_bundle(bundle).model_id == before
    other = load_bundle(write_bundle(tmp_path / "other", tokenizer_path, seed=1))
    assert other.model_id != before


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_one_changed_byte_is_found_and_its_file_named(bundle, name, place):
    path = bundle / name
    change_one_byte(path, int(place * (path.stat().st_size - 1)))
    with pytest.raises(ModelBundleError) as caught:
        load_bundle(bundle)
    assert str(caught.value) == (
        f"{path}: sha256 differs from manifest.json, the file is damaged: install or export the model again"
    )


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(bundle, name):
    (bundle / name).unlink()
    with pytest.raises(ModelBundleError) as caught:
        load_bundle(bundle)
    assert (
        str(caught.value) == f"{bundle / name}: No such file or directory: install or export the model again"
    )


def test_a_folder_without_a_bundle_is_named(tmp_path):
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ModelBundleError) as caught:
            load_bundle(folder)
        assert str(caught.value).startswith(
            f"{folder}: no model bundle there: name its folder with --model; "
        )


@pytest.mark.parametrize("found", [0, 2, None, "1"])
def test_another_format_says_which_was_expected(bundle, found):
    rewrite(bundle, format=found)
    with pytest.raises(ModelBundleError) as caught:
        load_bundle(bundle)
    assert str(caught.value) == (
        f"{bundle}: model bundle format {found}, expected 1: use a bundle made for this version"
    )


@pytest.mark.parametrize("field", ["name", "architecture", "dim", "max_query_tokens", "licence"])
def test_a_manifest_without_a_field_names_it(bundle, field):
    rewrite(bundle, **{field: None})
    with pytest.raises(ModelBundleError, match=f"manifest.json: no valid '{field}': export the model again"):
        load_bundle(bundle)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"\xff"])
def test_an_invalid_manifest_is_named(bundle, content):
    (bundle / "manifest.json").write_bytes(content)
    with pytest.raises(ModelBundleError, match=r"manifest\.json: "):
        load_bundle(bundle)


@pytest.mark.parametrize("files", [[], {}, "x", {"query.onnx": 3}, {"query.onnx": {}}])
def test_a_manifest_that_does_not_describe_the_files_is_refused(bundle, files):
    rewrite(bundle, files=files)
    with pytest.raises(
        ModelBundleError, match=r"manifest\.json: no sha256 of query\.onnx: install or export the model"
    ):
        load_bundle(bundle)


@pytest.mark.parametrize("name", ["dim", "max_query_tokens", "max_document_tokens"])
@pytest.mark.parametrize("value", [0, -1, 10**9, 1.5, "64", None, True])
def test_impossible_numbers_are_named(bundle, name, value):
    path = bundle / MANIFEST
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.raises(ModelBundleError, match=f"no valid {name}: export the model again"):
        load_bundle(bundle)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_a_device_in_place_of_a_graph_is_refused(bundle):
    (bundle / QUERY).unlink()
    os.mkfifo(bundle / QUERY)
    with pytest.raises(ModelBundleError, match="not a regular file"):
        load_bundle(bundle)
    (bundle / QUERY).unlink()
    (bundle / QUERY).symlink_to("/dev/zero")
    with pytest.raises(ModelBundleError, match="not a regular file"):
        load_bundle(bundle)


def test_a_file_outside_of_the_folder_is_refused(bundle):
    path = bundle / MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "document_graph": "../other.onnx"}))
    with pytest.raises(ModelBundleError, match="is not in its folder"):
        load_bundle(bundle)


def test_weights_in_another_file_are_refused(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    from codesearch.text.onnx import open_session

    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])],
        [weights],
    )
    path = tmp_path / "model.onnx"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    with pytest.raises(ModelBundleError, match="its weights are in another file"):
        open_session(path, "cpu", threads=1)
