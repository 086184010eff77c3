import json

import numpy as np
import pytest

from codesearch.errors import CodeSearchError
from exporters.bundle import check_bundle, write_bundle
from exporters.graph import quantize_rows
from exporters.parity import Parity, require
from training.files import TrainingError


def test_quantized_rows_are_within_half_a_step_of_the_table():
    table = np.random.default_rng(0).normal(size=(50, 16)).astype(np.float32)
    table[7] = 0
    rows, scales = quantize_rows(table)
    assert rows.dtype == np.int8 and scales.shape == (50,)
    assert (np.abs(rows * scales[:, None] - table) <= scales[:, None] / 2 + 1e-7).all()
    assert scales[7] == 1 and not rows[7].any()
    assert (np.abs(rows).max(axis=1)[np.arange(50) != 7] == 127).all()


def test_parity_beyond_the_tolerance_is_an_error_with_the_difference():
    require("query", Parity(9e-5, 1.0, 0.0), "fp32")
    with pytest.raises(TrainingError, match=r"largest difference 2\.00e-04"):
        require("query", Parity(2e-4, 1.0, 0.0), "fp32")
    require("query", Parity(0.01, 0.9981, 0.0), "int8")
    with pytest.raises(TrainingError):
        require("query", Parity(0.01, 0.998, 0.0), "int8")
    with pytest.raises(TrainingError, match="padding"):
        require("query", Parity(0.0, 1.0, 1e-3), "int8")


def test_the_manifest_of_a_bundle_describes_it(tiny_run, tmp_path):
    manifest = write_bundle(tiny_run, tmp_path / "bundle", "int8")
    assert manifest["format"] == 1
    assert manifest["name"] == "nbow-16-v1"
    assert manifest["trained_on"] == ["p"]
    assert manifest["metrics"] == {"mrr_999": {"go": 0.5, "average": 0.5}}
    assert sorted(manifest["files"]) == ["document.onnx", "query.onnx", "tokenizer.json"]
    assert manifest["rows"]["query.onnx"]["table"]["shape"] == [manifest["vocabulary_size"], 16]
    for name, described in manifest["files"].items():
        assert (tmp_path / "bundle" / name).stat().st_size == described["bytes"]
    assert (
        check_bundle(tmp_path / "bundle")
        == manifest
        == json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    )


def test_a_flipped_byte_in_a_bundle_is_found(tiny_run, tmp_path):
    write_bundle(tiny_run, tmp_path, "int8")
    content = bytearray((tmp_path / "query.onnx").read_bytes())
    content[100] ^= 1
    (tmp_path / "query.onnx").write_bytes(content)
    with pytest.raises(CodeSearchError, match="query.onnx"):
        check_bundle(tmp_path)


def test_a_run_that_was_not_evaluated_is_not_exported(tiny_run, tmp_path):
    (tiny_run / "mrr_test.json").unlink()
    with pytest.raises(TrainingError, match="training evaluate"):
        write_bundle(tiny_run, tmp_path, "int8")
    with pytest.raises(TrainingError, match="training train --run"):
        write_bundle(tiny_run / "none", tmp_path, "int8")
