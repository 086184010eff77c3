import json
from dataclasses import asdict

import pytest

from tests.unit.training.conftest import train_tokenizer
from training import checkpoint
from training.build import build_model
from training.config import TrainConfig
from training.corpus.rows import Row


@pytest.fixture
def tiny_run(tmp_path_factory):
    """Return a run folder as training writes it, with random weights and invented figures."""
    run = tmp_path_factory.mktemp("run")
    config = TrainConfig(dim=16, vocabulary_size=300)
    row = Row(
        "a/b", "p", "x", "f", "f", "go", "func readLines(path string) []string", "read file into lines", ""
    )
    tokenizer = train_tokenizer([row] * 3, config.vocabulary_size)
    tokenizer.save(run / checkpoint.TOKENIZER)
    facts = {"data_hash": "abc", "trained_on": ["p"], "languages": ["go"], "pairs": 3}
    checkpoint.write_config(run, {"config": asdict(config), **facts})
    checkpoint.save_weights(build_model(config, tokenizer.vocabulary_size), run)
    (run / "mrr_test.json").write_text(json.dumps({"mrr_999": {"go": 0.5, "average": 0.5}}))
    return run
