"""Fine-tuning of a pretrained transformer: its start, frozen layers and export."""

import json
import string

import pytest
import safetensors.torch as safetensors
import torch

from codesearch.text.onnx import OnnxEncoder
from exporters.bundle import write_bundle
from tests.unit.training.conftest import documentation
from training import pretrained
from training.config import TrainConfig
from training.files import TrainingError
from training.pipeline import load_run, train_run

SIZES = {
    "vocab_size": 80,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "layer_norm_eps": 1e-12,
}
SETTINGS = {
    "architecture": "bert",
    "dim": 16,
    "layers": 2,
    "heads": 2,
    "hidden_dim": 32,
    "vocabulary_size": 60,
    "max_document_tokens": 40,
    "batch_size": 20,
    "epochs": 1,
    "token_dropout": 0.0,
    "frozen_layers": 1,
    "body_learning_rate": 0.01,
}


def random_state(dim: int, hidden: int) -> dict[str, torch.Tensor]:
    """Return random weights of two layers under the names of Hugging Face."""
    shapes = {
        "embeddings.word_embeddings.weight": (SIZES["vocab_size"], dim),
        "embeddings.position_embeddings.weight": (SIZES["max_position_embeddings"], dim),
        "embeddings.token_type_embeddings.weight": (2, dim),
        "embeddings.LayerNorm.weight": (dim,),
        "embeddings.LayerNorm.bias": (dim,),
    }
    for number in range(SIZES["num_hidden_layers"]):
        for part, (width, height) in {
            **{f"attention.self.{name}": (dim, dim) for name in ("query", "key", "value")},
            "attention.output.dense": (dim, dim),
            "intermediate.dense": (hidden, dim),
            "output.dense": (dim, hidden),
        }.items():
            shapes[f"encoder.layer.{number}.{part}.weight"] = (width, height)
            shapes[f"encoder.layer.{number}.{part}.bias"] = (width,)
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"encoder.layer.{number}.{part}.{kind}": (dim,) for kind in ("weight", "bias")}
    return {name: torch.randn(shape) * 0.3 for name, shape in shapes.items()}


@pytest.fixture
def pretrained_model(tmp_path, monkeypatch):
    from tests.parity.test_bert_parity import write_wordpiece

    torch.manual_seed(0)
    folder = tmp_path / "pretrained"
    folder.mkdir()
    letters = string.ascii_lowercase
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{letter}" for letter in letters)]
    tokens += [f"word{number}" for number in range(SIZES["vocab_size"] - len(tokens))]
    write_wordpiece(folder / "tokenizer.json", tokens)
    (folder / "config.json").write_text(json.dumps(SIZES))
    safetensors.save_file(random_state(16, 32), folder / "model.safetensors")
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: folder)
    return pretrained.load_bert(folder)


def test_a_run_starts_pretrained_and_trains_only_layers_that_are_not_frozen(
    corpus, tmp_path, pretrained_model
):
    train_run(documentation(corpus), tmp_path / "run", TrainConfig(**SETTINGS))
    model, tokenizer, _ = load_run(tmp_path / "run")
    assert model.is_one and tokenizer.vocabulary_size == 60
    first, last = (
        [torch.equal(a, b) for a, b in zip(mine.parameters(), given.parameters(), strict=True)]
        for mine, given in zip(model.query.layers, pretrained_model.layers, strict=True)
    )
    assert all(first) and not any(last)
    assert torch.equal(model.query.positions, pretrained_model.positions[:40])


def test_the_bundle_has_one_graph_for_queries_and_documents(corpus, tmp_path, pretrained_model):
    run, bundle = tmp_path / "run", tmp_path / "bundle"
    train_run(documentation(corpus), run, TrainConfig(**SETTINGS))
    (run / "mrr_test.json").write_text(json.dumps({"mrr_999": {"go": 0.5, "average": 0.5}}))
    manifest = write_bundle(run, bundle, "fp32")
    assert sorted(path.name for path in bundle.iterdir()) == ["manifest.json", "query.onnx", "tokenizer.json"]
    assert (manifest["licence"], manifest["document_graph"]) == ("Apache-2.0", "query.onnx")
    encoder = OnnxEncoder.load(bundle, "cpu")
    ids = encoder.tokenizer.encode("zero one two", 40)
    model, _, _ = load_run(run)
    expected = model.query(torch.from_numpy(ids.astype("int64"))[None], torch.ones(1, len(ids)))
    found = torch.from_numpy(encoder.encode_documents([ids]))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=0)
    torch.testing.assert_close(torch.from_numpy(encoder.encode_queries(["zero one two"])), found)


def test_a_separate_encoder_per_language_is_refused():
    with pytest.raises(TrainingError, match="leave it shared"):
        TrainConfig(**SETTINGS, code_encoders="per-language")
