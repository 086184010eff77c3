import shutil

from codesearch.encoding import cross_encoder
from codesearch.engine.verify import checks
from tests.tiny_bundle import change_one_byte


def test_a_damaged_reranker_is_found(tmp_path, tiny_bundle, monkeypatch):
    bundle = shutil.copytree(cross_encoder.SHIPPED, tmp_path / "reranker")
    change_one_byte(bundle / "model.onnx")
    monkeypatch.setattr(cross_encoder, "SHIPPED", bundle)
    failed = [check for check in checks(tmp_path / "home", tiny_bundle, "cpu") if check.state == "FAIL"]
    assert [(check.name, check.detail) for check in failed] == [
        (
            "reranker",
            f"{bundle}/model.onnx: sha256 differs from manifest.json, the file is damaged: install the model again",
        )
    ]
