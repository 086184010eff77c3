"""Training from the vectors of a bundle, on questions with candidates, and the export of such a run."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch")

from codesearch.text.bundle import SHIPPED, TOKENIZER, load_bundle  # noqa: E402
from codesearch.text.onnx import OnnxEncoder  # noqa: E402
from exporters.bundle import write_bundle  # noqa: E402
from training import checkpoint  # noqa: E402
from training.config import CONFIGS, Source, TrainConfig, read_train_recipe  # noqa: E402
from training.errors import TrainingError  # noqa: E402
from training.pipeline import load_run, train_run  # noqa: E402
from training.pools import DOCUMENTATION  # noqa: E402

CODE = {
    "reap": "def reap(children):\n    return [c for c in children if c.poll() is None]\n",
    "paint": "def paint(canvas, color):\n    canvas.fill(color)\n",
    "load": "def load(path):\n    return open(path).read()\n",
    "store": "def store(path, text):\n    open(path, 'w').write(text)\n",
}
QUESTIONS = {"reap": "zombie processes pile up", "paint": "colour the background", "load": "slurp a file"}
TRAINED, HELD_OUT = (
    ("pkg:pypi/0", "pkg:pypi/1", "pkg:pypi/2"),
    "pkg:pypi/9",
)  # The hash of the names decides this.


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
    for package in (*TRAINED, HELD_OUT):
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


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """Return a tuned run and the lines of its metrics."""
    folder = tmp_path_factory.mktemp("tuned")
    write_pools(folder / "pools")
    changed = {"epochs": 9, "keep": 0.0, "token_dropout": 0.0, "learning_rate": 5e-3}
    return folder / "run", tune(folder / "pools", folder / "run", **changed)


def settings(**changed) -> TrainConfig:
    return TrainConfig(**{**read_train_recipe(CONFIGS / "tuned.toml").settings, **changed})


def tune(pools, run, **changed) -> list[dict]:
    """Tune the shipped bundle; return the lines of the metrics."""
    train_run([Source("pools", pools)], run, settings(**changed), "cpu", start=SHIPPED)
    return [json.loads(line) for line in (run / checkpoint.METRICS).read_text().splitlines()]


def cosine_of_start(run) -> float:
    """Return the cosine of a query's vectors before and after tuning."""
    encoder = OnnxEncoder(load_bundle(SHIPPED))
    ids = torch.from_numpy(encoder.tokenizer.encode("parse a date", 30).astype("int64"))[None]
    tuned = load_run(run)[0].query(ids, torch.ones_like(ids))[0].detach().numpy()
    return float(encoder.encode_queries(["parse a date"])[0] @ tuned)


def test_questions_of_other_packages_raise_the_rank_of_right_answers(tuned):
    _, lines = tuned
    assert lines[0]["valid_mrr"]["score"] <= lines[-1]["valid_mrr"]["score"] == 1.0
    assert lines[-1]["valid_mrr"].keys() == {"score", "cosine", "average"}


def test_an_exported_run_is_a_bundle_with_the_vectors_of_the_run(tuned, tmp_path):
    run, _ = tuned
    (run / "mrr_test.json").write_text(json.dumps({"mrr_999": {"go": 0.5}}))
    manifest = write_bundle(run, tmp_path / "bundle", "int8", "tuned")
    bundle, shipped = load_bundle(tmp_path / "bundle"), load_bundle(SHIPPED)
    assert (bundle.name, bundle.dim, manifest["initial_vectors"]) == ("tuned", shipped.dim, "minilm")
    assert {*TRAINED} < {*manifest["trained_on"]} and "pkg:pypi/9" not in manifest["trained_on"]
    assert bundle.rows["document.onnx"]["repeat_power"] == shipped.rows["document.onnx"]["repeat_power"]
    assert bundle.model_id != shipped.model_id
    assert (tmp_path / "bundle" / TOKENIZER).read_bytes() == (SHIPPED / TOKENIZER).read_bytes()
    model, encoder = load_run(run)[0], OnnxEncoder(bundle)
    ids = torch.from_numpy(encoder.tokenizer.encode("zombie processes", 30).astype("int64"))[None]
    expected = model.query(ids, torch.ones_like(ids))[0].detach().numpy()
    assert encoder.encode_queries(["zombie processes"])[0] @ expected == pytest.approx(1.0, abs=1e-3)


def test_a_share_of_zero_gives_the_original_vectors(pools, tmp_path):
    tune(pools, tmp_path / "none", epochs=1, tuned_share=0.0)
    tune(pools, tmp_path / "all", epochs=1, learning_rate=0.05)
    assert cosine_of_start(tmp_path / "none") == pytest.approx(1.0, abs=1e-3)
    assert cosine_of_start(tmp_path / "all") < 0.99


def test_a_run_from_a_bundle_is_not_resumed_with_other_settings(pools, tmp_path):
    tune(pools, tmp_path / "run", epochs=1)
    with pytest.raises(TrainingError, match=r"started with other settings: keep 12\.0, now 3\.0"):
        tune(pools, tmp_path / "run", epochs=1, keep=3.0)


def test_only_a_bag_is_a_start(pools, tmp_path):
    with pytest.raises(TrainingError, match="architecture cnn: only nbow with shared code encoders"):
        tune(pools, tmp_path / "run", architecture="cnn")
