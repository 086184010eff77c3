"""The shipped cross-encoder and the text of its candidates."""

from __future__ import annotations

import shutil
import sys

import numpy as np
import pytest

from codesearch.encoding.cross_encoder import MODEL, SHIPPED, CrossEncoder, candidate_text, pair_ids
from codesearch.errors import MissingExtraError, ModelBundleError

DELETE = candidate_text(
    "lib/trees.py",
    "remove_all",
    "",
    "def remove_all(path):\n    for entry in listdir(path):\n        unlink(entry)\n",
)
PARSE = candidate_text(
    "lib/numbers.py", "parse_number", "", "def parse_number(text):\n    return int(text)\n"
)


@pytest.fixture(scope="module")
def shipped() -> CrossEncoder:
    return CrossEncoder(SHIPPED)


def test_a_text_has_each_word_of_the_code_once_and_no_keywords():
    code = "def load_user(user_id):\n    if user_id is None:\n        return cache\n    return cache.get(user_id)\n"
    text = candidate_text("src/app/users.py", "Users.load_user", "Load a user.\n\nFrom the cache.", code)
    assert text == "users load user ; Load a user. ; app users ; id cache get"


def test_empty_parts_are_left_out():
    assert candidate_text("", "go", "", "") == "go"


def test_pairs_are_padded_and_cut():
    query, texts = np.array([2, 7, 3], np.uint32), [np.array([8, 9, 3], np.uint32), np.array([5], np.uint32)]
    ids, mask = pair_ids(query, texts, 5)
    assert ids.tolist() == [[2, 7, 3, 8, 9], [2, 7, 3, 5, 0]]
    assert mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 0]]


def test_the_shipped_model_prefers_the_text_that_answers(shipped):
    for query, right in (("delete every file in a folder", 0), ("convert string to integer", 1)):
        scores = shipped.scores(query, [DELETE, PARSE])
        assert scores.dtype == np.float32
        assert int(scores.argmax()) == right


def test_an_empty_query_scores_zero(shipped):
    assert shipped.scores("", [DELETE]).tolist() == [0.0]
    assert shipped.scores("delete", []).tolist() == []


@pytest.mark.parametrize("name", [MODEL, "tokenizer.json", "manifest.json"])
def test_a_damaged_or_missing_file_is_one_clear_error(tmp_path, name):
    bundle = tmp_path / "bundle"
    shutil.copytree(SHIPPED, bundle)
    content = bytearray((bundle / name).read_bytes())
    content[len(content) // 2] ^= 0xFF
    (bundle / name).write_bytes(content)
    with pytest.raises(ModelBundleError, match="install the model again|cannot be read"):
        CrossEncoder(bundle)
    (bundle / name).unlink()
    with pytest.raises(ModelBundleError):
        CrossEncoder(bundle)


def test_without_onnx_runtime_the_error_says_how_to_add_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match="onnxruntime"):
        CrossEncoder(SHIPPED).scores("delete", [DELETE])
