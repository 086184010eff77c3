"""Fine-tuning of the bag of a bundle on questions, and its export."""

from __future__ import annotations

import json

import numpy as np
import pytest

from codesearch.encoding.bundle import SHIPPED, TOKENIZER, load_bundle
from codesearch.encoding.onnx import OnnxEncoder
from exporters.tuned_bag import write_tuned_bag
from training.errors import TrainingError
from training.tuning.config import TuningConfig
from training.tuning.pools import DOCUMENTATION
from training.tuning.train import CONFIG, LOG, TABLES, tune

CODE = {
    "reap": "def reap(children):\n    return [c for c in children if c.poll() is None]\n",
    "paint": "def paint(canvas, color):\n    canvas.fill(color)\n",
    "load": "def load(path):\n    return open(path).read()\n",
    "store": "def store(path, text):\n    open(path, 'w').write(text)\n",
}
QUESTIONS = {"reap": "zombie processes pile up", "paint": "colour the background", "load": "slurp a file"}
TRAINED, HELD_OUT = "pkg:pypi/0", "pkg:pypi/9"  # The hash of the names decides this.


def write_pools(folder, *, documentation: bool = False) -> None:
    """Write a group of pools in which every right answer ranks last."""
    (folder / "000").mkdir(parents=True)
    names = list(CODE)
    candidates = [
        {
            "language": "python",
            "kind": "function",
            "path": f"src/{name}.py",
            "name": name,
            "docstring": "",
            "code": code,
        }
        for name, code in CODE.items()
    ]
    pools = []
    for package in (TRAINED, HELD_OUT):
        for name, text in QUESTIONS.items():
            order = [place for place in range(len(names)) if names[place] != name] + [names.index(name)]
            pools.append(
                {
                    "question": text,
                    "style": DOCUMENTATION if documentation else "keywords",
                    "about": "undocumented",
                    "language": "python",
                    "package": package,
                    "answer": 3,
                    "found": True,
                    "candidates": order,
                    "parts": {"keywords": [0.0] * 4, "vectors": [0.4, 0.3, 0.2, 0.1]},
                    "signals": {"length_prior": [1.0] * 4, "cosine": [0.4, 0.3, 0.2, 0.1]},
                }
            )
    for file, records in (("candidates.jsonl", candidates), ("pools.jsonl", pools)):
        (folder / "000" / file).write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def pools(tmp_path):
    write_pools(tmp_path / "pools")
    return tmp_path / "pools"


def figures_of(run):
    return [json.loads(line) for line in (run / LOG).read_text().splitlines()]


def test_questions_of_other_packages_raise_the_rank_of_right_answers(pools, tmp_path):
    config = TuningConfig(epochs=12, keep=0.0, drop=0.0, table_rate=5e-3)
    last = tune(SHIPPED, pools, [], tmp_path / "run", config)
    first = figures_of(tmp_path / "run")[0]
    assert last["mrr"] >= first["mrr"]
    assert last["mrr"] == 1.0


def test_an_interrupted_run_ends_like_one_without_interruption(pools, tmp_path):
    tune(SHIPPED, pools, [], tmp_path / "whole", TuningConfig(epochs=2))
    tune(SHIPPED, pools, [], tmp_path / "parts", TuningConfig(epochs=1))
    tune(SHIPPED, pools, [], tmp_path / "parts", TuningConfig(epochs=2))
    assert [it["epoch"] for it in figures_of(tmp_path / "parts")] == [1, 2]
    assert figures_of(tmp_path / "whole") == figures_of(tmp_path / "parts")
    assert json.loads((tmp_path / "parts" / CONFIG).read_text())["epochs"] == 2


def test_an_exported_run_is_a_bundle_with_the_vectors_of_the_run(pools, tmp_path):
    tune(SHIPPED, pools, [], tmp_path / "run", TuningConfig(epochs=3, keep=0.0, table_rate=5e-3))
    manifest = write_tuned_bag(tmp_path / "run", SHIPPED, tmp_path / "bundle", "tuned")
    bundle = load_bundle(tmp_path / "bundle")
    assert (bundle.name, manifest["tuned"]["epoch"]) == ("tuned", 3)
    assert bundle.model_id != load_bundle(SHIPPED).model_id
    assert (tmp_path / "bundle" / TOKENIZER).read_bytes() == (SHIPPED / TOKENIZER).read_bytes()
    with np.load(tmp_path / "run" / TABLES) as tables:
        ids = OnnxEncoder(bundle).tokenizer.encode("zombie processes", 30)
        expected = tables["query"][ids].sum(axis=0)
    got = OnnxEncoder(bundle).encode_queries(["zombie processes"])[0]
    assert got @ expected / np.linalg.norm(expected) == pytest.approx(1.0, abs=1e-3)


def test_a_share_of_zero_gives_the_original_vectors(pools, tmp_path):
    tune(SHIPPED, pools, [], tmp_path / "run", TuningConfig(epochs=1, share=0.0))
    write_tuned_bag(tmp_path / "run", SHIPPED, tmp_path / "bundle", "same")
    ours, theirs = (
        OnnxEncoder(load_bundle(folder)).encode_queries(["parse a date"])[0]
        for folder in (tmp_path / "bundle", SHIPPED)
    )
    assert ours @ theirs == pytest.approx(1.0, abs=1e-3)


def test_an_unfinished_run_is_not_exported(tmp_path):
    with pytest.raises(TrainingError, match=r"no tables\.npz: run `python -m training tune` to its end"):
        write_tuned_bag(tmp_path, SHIPPED, tmp_path / "bundle", "tuned")
