"""Pools of candidates for the cross-encoder, its training steps and its export."""

from __future__ import annotations

import json

import numpy as np
import onnxruntime
import pytest
import torch

from codesearch.encoding.tokenizer import SubtokenTokenizer
from codesearch.engine.engine import Engine
from codesearch.errors import CodeSearchError
from exporters.cross_encoder import cross_encoder_graph
from tests.conftest import write_tree
from training.encoders.bert import BertConfig
from training.reranker import train
from training.reranker.command import WRITTEN
from training.reranker.config import RerankerConfig
from training.reranker.model import CrossEncoder
from training.reranker.pools import DOCUMENTATION, WrittenQuestion, read_groups, read_written, write_group

TREE = {
    "00/lib/trees.py": "def wipe(path):\n    for entry in listdir(path):\n        unlink(entry)\n\n\n"
    "def count_files(path):\n    return len(listdir(path))\n",
    "00/lib/cache.py": "class Cache:\n"
    '    """Keeps values in memory until they are old."""\n\n'
    "    def load(self, key):\n"
    '        """Return the value of a key."""\n'
    "        return self.values[key]\n",
    "01/other.py": "def wipe_screen(path):\n    unlink(path)\n",
}
URL = "pkg:pypi/trees@1"


@pytest.fixture
def group(tmp_path):
    write_tree(tmp_path / "000" / "tree", TREE)
    Engine(tmp_path / "000" / "home").index(tmp_path / "000" / "tree")
    return tmp_path / "000"


def question(text: str, path: str, line: int) -> WrittenQuestion:
    return WrittenQuestion("keywords", "undocumented", "python", URL, path, line, "wipe", text)


def test_a_question_gets_candidates_of_its_own_package_with_the_answer_marked(group):
    asked = {URL: [question("unlink all files of a folder", "lib/trees.py", 1)]}
    write_group(group, [URL, "pkg:pypi/other@1"], asked)
    ((pools, candidates),) = read_groups(group.parent)
    pool = next(pool for pool in pools if pool.style == "keywords")
    assert pool.found
    assert candidates[pool.candidates[pool.answer]].name == "wipe"
    assert all(candidates[number].path != "other.py" for number in pool.candidates)
    assert len(pool.signals["cosine"]) == len(pool.candidates)


def test_first_sentences_of_documentation_are_questions_about_code_without_it(group):
    write_group(group, [URL], {})
    ((pools, candidates),) = read_groups(group.parent)
    asked = {pool.question: candidates[pool.candidates[pool.answer]] for pool in pools}
    assert {pool.style for pool in pools} == {DOCUMENTATION}
    assert {answer.kind for answer in asked.values()} == {"class", "method"}
    answer = asked["Return the value of a key."]
    assert "Return" in answer.text()
    assert "Return" not in answer.text(documentation=False)
    assert answer.context == "Keeps values in memory until they are old."


def test_a_question_about_a_line_without_a_function_is_dropped(group):
    write_group(group, [URL], {URL: [question("nothing", "lib/trees.py", 2)]})
    ((pools, _),) = read_groups(group.parent)
    assert all(pool.question != "nothing" for pool in pools)


def test_an_invalid_line_is_an_error(tmp_path):
    path = tmp_path / "questions.tsv"
    path.write_text("keywords\tundocumented\tpython\n")
    with pytest.raises(CodeSearchError, match=r"questions\.tsv:1"):
        read_written(path)


def test_the_shipped_questions_can_be_read():
    questions = read_written(WRITTEN / "questions.tsv")
    assert len(questions) > 7_000
    assert len({(asked.package, asked.path, asked.line) for asked in questions}) == len(questions)


def test_training_learns_from_the_pools_and_resumes(group, tokenizer_path, monkeypatch):
    write_group(group, [URL], {URL: [question("unlink all files of a folder", "lib/trees.py", 1)]})

    def tiny(*_):
        torch.manual_seed(0)
        sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        tokenizer = SubtokenTokenizer.load(tokenizer_path)
        config = BertConfig(
            vocab_size=tokenizer.vocabulary_size, hidden_size=8, max_position_embeddings=96, **sizes
        )
        return CrossEncoder(config), tokenizer

    monkeypatch.setattr(train, "start", tiny)
    out = group.parent / "run"
    config = RerankerConfig(epochs=3, frozen=0, documentation=1.0, learning_rate=1e-3)
    train.train(group.parent, out, config)
    first = torch.load(out / "state.pt", weights_only=True)
    assert first["step"] == 3
    assert any(weights.abs().sum() > 0 for name, weights in first["model"].items() if name.startswith("head"))
    (line,) = (out / "log.jsonl").read_text().splitlines()
    assert json.loads(line)["step"] == 3
    train.train(group.parent, out, config)
    assert torch.load(out / "state.pt", weights_only=True)["model"].keys() == first["model"].keys()
    assert len((out / "log.jsonl").read_text().splitlines()) == 1


def test_the_graph_agrees_with_torch():
    torch.manual_seed(0)
    sizes = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    model = CrossEncoder(BertConfig(vocab_size=20, hidden_size=8, max_position_embeddings=12, **sizes)).eval()
    ids = np.array([[2, 5, 3, 7, 3], [2, 6, 3, 0, 0]], np.int64)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int64)
    session = onnxruntime.InferenceSession(cross_encoder_graph(model).SerializeToString())
    (logits,) = session.run(["logit"], {"input_ids": ids, "attention_mask": mask})
    with torch.inference_mode():
        expected = model(torch.from_numpy(ids), torch.from_numpy(mask).float()).numpy()
    assert logits.shape == (2, 1)
    np.testing.assert_allclose(logits[:, 0], expected, atol=1e-5)
