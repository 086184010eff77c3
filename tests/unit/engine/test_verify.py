import shutil

from codesearch.engine.verify import checks
from tests.tiny_bundle import change_one_byte


def test_a_damaged_model_is_found(tmp_path, tiny_bundle):
    bundle = shutil.copytree(tiny_bundle, tmp_path / "bundle")
    change_one_byte(bundle / "query.onnx")
    failed = [check for check in checks(tmp_path / "home", bundle, "cpu") if check.state == "FAIL"]
    assert [(check.name, check.detail) for check in failed] == [
        (
            "model",
            f"{bundle}/query.onnx: sha256 differs from manifest.json, the file is damaged: install or export the "
            "model again",
        )
    ]
