import dataclasses
import json
import math
import multiprocessing
import os
import signal
from typing import get_args

import numpy as np
import pytest
import torch

from codesearch.text.tokenizer import join_fields
from tests.unit.training.conftest import part, train_tokenizer
from training import checkpoint, loop, objectives
from training.batches import sample_batches
from training.build import build_model
from training.checkpoint import CURVE
from training.config import Architecture, SequenceModel, TrainConfig
from training.corpus.rows import Row
from training.evaluation.mrr import _shuffled, mrr_by_language
from training.files import TrainingError
from training.pipeline import fit
from training.samples import make_samples, short_ids, texts_of_row, without_name

CONFIG = TrainConfig(
    dim=16,
    vocabulary_size=400,
    batch_size=50,
    epochs=4,
    learning_rate=0.02,
    temperature=0.05,
    seed=3,
    patience=9,
)


@pytest.fixture(scope="module")
def data(synthetic_rows):
    train, valid = synthetic_rows(400, 1), synthetic_rows(100, 2)
    tokenizer = train_tokenizer(train, CONFIG.vocabulary_size)
    limits = {"max_query_tokens": 30, "max_document_tokens": 60}
    return tokenizer, make_samples(train, tokenizer, **limits), make_samples(valid, tokenizer, **limits)


def train(data, run, config=CONFIG, **options):
    tokenizer, train_set, valid_set = data
    run.mkdir(exist_ok=True)
    model = build_model(config, tokenizer.vocabulary_size, [train_set])
    fit(model, config, [part(train_set)], [part(valid_set)], run, pool=100, **options)
    return model


def curve(run):
    lines = map(json.loads, (run / checkpoint.METRICS).read_text().splitlines())
    return [(line["epoch"], line["loss"], line["valid_mrr"]) for line in lines]


@pytest.mark.parametrize("architecture", [name for name in get_args(Architecture) if name != "ncs"])
def test_every_architecture_learns(architecture, data, tmp_path):
    dropout = {"dropout": 0.1} if architecture in get_args(SequenceModel) else {}
    config = dataclasses.replace(
        CONFIG, architecture=architecture, body_learning_rate=0.01, epochs=3, **dropout
    )
    assert mrr_by_language(train(data, tmp_path / "run", config), data[2], 100)["go"] > 0.5


@pytest.mark.parametrize(
    ("architecture", "options"),
    [
        ("nbow", {"loss": "max-margin", "code_encoders": "per-language"}),
        ("cnn-selfatt", {"dropout": 0.2, "pooling": "attention"}),
        ("ncs", {}),
    ],
)
def test_a_run_stopped_inside_an_epoch_resumes_with_the_same_curve(
    architecture, options, data, tmp_path, monkeypatch
):
    config = dataclasses.replace(CONFIG, architecture=architecture, epochs=3, batch_size=100, **options)
    monkeypatch.setattr(objectives, "TEXTS", 100)
    train(data, tmp_path / "whole", config)
    save = checkpoint.save_state

    def stopped(run, state):
        save(run, state)
        if (state["progress"]["epoch"], state["progress"]["step"]) == (1, 2):
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "save_state", stopped)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "stopped", config, checkpoint_s=0)
    monkeypatch.setattr(checkpoint, "save_state", save)
    assert len(curve(tmp_path / "stopped")) == 1
    train(data, tmp_path / "stopped", config)
    assert len(curve(tmp_path / "stopped")) == config.epochs
    assert curve(tmp_path / "stopped") == curve(tmp_path / "whole")


def test_a_run_leaves_a_plot_of_its_curve(data, tmp_path, monkeypatch, plot_curve):
    monkeypatch.setattr(checkpoint, "plot_curve", plot_curve)
    train(data, tmp_path / "run", dataclasses.replace(CONFIG, epochs=1))
    assert (tmp_path / "run" / CURVE).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("large", [0, 50_000])
def test_ctrl_c_ends_the_step_and_the_run_resumes_with_the_same_curve(large, data, tmp_path, monkeypatch):
    config = dataclasses.replace(CONFIG, epochs=2, batch_size=25)
    train(data, tmp_path / "whole", config)
    monkeypatch.setattr("training.pipeline.LARGE", large)  # With 0, a worker process makes the batches.
    backward = objectives.PairObjective.backward
    steps = []

    def pressed(self, batch, seed):
        steps.append(seed)
        if len(steps) == 19:
            for worker in multiprocessing.active_children():
                os.kill(worker.pid, signal.SIGINT)  # As a terminal does.
            signal.raise_signal(signal.SIGINT)
        return backward(self, batch, seed)

    monkeypatch.setattr(objectives.PairObjective, "backward", pressed)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "stopped", config)
    progress = checkpoint.load_state(tmp_path / "stopped")["progress"]
    assert (progress["epoch"], progress["step"], len(steps)) == (1, 3, 19)
    train(data, tmp_path / "stopped", config)
    assert curve(tmp_path / "stopped") == curve(tmp_path / "whole")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_training_in_bfloat16_learns(data, tmp_path, monkeypatch):
    """Training uses bfloat16 on CUDA: parts in half precision must work with the others."""
    autocast = torch.autocast
    monkeypatch.setattr(
        torch, "autocast", lambda kind, dtype=None, enabled=True: autocast(kind, dtype, dtype is not None)
    )
    config = dataclasses.replace(CONFIG, architecture="cnn-selfatt", body_learning_rate=0.01, epochs=3)
    assert mrr_by_language(train(data, tmp_path / "run", config), data[2], 100)["go"] > 0.5


def test_training_stops_when_patience_is_used_up(data, tmp_path):
    config = dataclasses.replace(CONFIG, learning_rate=0.0, epochs=9, patience=1)
    train(data, tmp_path / "run", config)
    assert len(curve(tmp_path / "run")) == 2


def test_a_run_that_diverges_stops_and_keeps_the_weights_of_the_epoch_before(data, tmp_path):
    run = tmp_path / "run"
    train(data, run, dataclasses.replace(CONFIG, epochs=1))
    kept = (run / checkpoint.WEIGHTS).read_bytes()
    (run / checkpoint.CHECKPOINT).unlink()
    config = dataclasses.replace(CONFIG, temperature=1e-6, learning_rate=1e30)
    with pytest.raises(TrainingError, match="the loss of epoch 1 is (nan|inf) at step 8: give lower"):
        train(data, run, config)
    assert (run / checkpoint.WEIGHTS).read_bytes() == kept


@pytest.mark.parametrize(
    ("processes", "stops_at", "factor", "shown"),
    [(1, 3, torch.nan, "nan"), (2, 5, torch.nan, "nan"), (1, 3, 1e20, r"\d.*e\+20")],
)
def test_divergence_ends_an_epoch_before_its_end(
    processes, stops_at, factor, shown, data, tmp_path, monkeypatch
):
    """One process looks at the loss when it shows it, several in the steps that they share."""
    backward, asked = objectives.PairObjective.backward, []
    monkeypatch.setattr(loop, "SHOWN_S", 0.0)
    monkeypatch.setattr(loop, "SHARED_STEPS", 5)
    monkeypatch.setattr(loop, "world", lambda: processes)
    monkeypatch.setattr(loop, "any_rank", lambda flag, device: bool(asked.append(flag)))

    def broken(self, batch, seed):
        broken.steps += 1
        return backward(self, batch, seed) * (factor if broken.steps == 3 else 1)

    broken.steps = 0
    monkeypatch.setattr(objectives.PairObjective, "backward", broken)
    with pytest.raises(TrainingError, match=f"is {shown} at step {stops_at}: give lower"):
        train(data, tmp_path / "run", CONFIG, checkpoint_s=0)
    assert (broken.steps, len(asked)) == (stops_at, 3 if processes == 1 else 1)
    state = checkpoint.load_state(tmp_path / "run")
    assert state["progress"]["step"] == 2 if processes == 1 else state is None


def test_a_run_is_not_resumed_with_other_settings(tmp_path):
    lists: dict[str, list[str]] = {"languages": [], "trained_on": []}
    settings = {"config": dataclasses.asdict(CONFIG), "data_hash": "abc"}
    assert not checkpoint.is_begun(tmp_path, settings)
    checkpoint.write_config(tmp_path, {**settings, "pairs": 9, **lists})
    assert checkpoint.is_begun(tmp_path, settings)
    other = {**settings, "config": dataclasses.asdict(dataclasses.replace(CONFIG, dim=8))}
    with pytest.raises(TrainingError, match="started with other settings: dim 16, now 8: give another --run"):
        checkpoint.is_begun(tmp_path, other)
    with pytest.raises(TrainingError, match="started with other settings or data"):
        checkpoint.is_begun(tmp_path, {**settings, "data_hash": "abd"})


def test_a_batch_holds_one_language_and_an_epoch_every_sample(data, synthetic_rows):
    tokenizer, _, _ = data
    rows = [
        dataclasses.replace(row, language=language)
        for language in ("go", "php")
        for row in synthetic_rows(60, 5)
    ]
    samples = make_samples(rows, tokenizer, max_query_tokens=9, max_document_tokens=9)
    config = TrainConfig(batch_size=25)
    chunks, next_chunks = (
        [plan.indices for plan in sample_batches([part(samples)], config, epoch)] for epoch in (0, 1)
    )
    assert all(len(set(samples.languages[chunk])) == 1 for chunk in chunks)
    assert sorted(np.concatenate(chunks)) == list(range(120))
    assert [chunk.tolist() for chunk in chunks] != [chunk.tolist() for chunk in next_chunks]


def test_the_batches_of_a_language_do_not_move_when_another_grows(data, synthetic_rows):
    tokenizer, _, _ = data
    found = []
    for count in (40, 50):
        rows = [dataclasses.replace(row, language="php") for row in synthetic_rows(60, 5)]
        rows += synthetic_rows(count, 6)
        samples = make_samples(rows, tokenizer, max_query_tokens=9, max_document_tokens=9)
        batches = [plan.indices for plan in sample_batches([part(samples)], TrainConfig(batch_size=25), 0)]
        found.append(sorted(batch.tolist() for batch in batches if batch[0] < 60))
        found.append(_shuffled(samples)["php"].tolist())
    assert found[:2] == found[2:]


def test_an_epoch_takes_the_next_share_of_each_source(data):
    _, samples, few = data
    config = dataclasses.replace(CONFIG, batch_size=20)
    sources = [part(samples, share=0.25), part(few, "history", share=2)]
    epochs = [sample_batches(sources, config, epoch) for epoch in range(5)]
    taken = [
        sorted(i for batch in its if batch.dataset == 0 for i in batch.indices.tolist()) for its in epochs
    ]
    assert [len(its) for its in taken] == [100] * 5
    assert sorted(sum(taken[:4], [])) == list(range(400))
    assert taken[4] != taken[0]
    twice = [i for batch in epochs[0] if batch.dataset == 1 for i in batch.indices.tolist()]
    assert sorted(twice) == sorted([*range(100)] * 2)
    assert len({batch.dataset for batch in epochs[0][:10]}) == 2


def test_neighbours_are_in_one_batch_and_begin_elsewhere_in_each_epoch(data):
    _, samples, _ = data
    config = dataclasses.replace(CONFIG, batch_size=40, neighbours=8)
    starts = []
    for epoch in range(4):
        batches = [plan.indices for plan in sample_batches([part(samples)], config, epoch)]
        assert sorted(np.concatenate(batches)) == list(range(400))
        together = np.concatenate([batch.reshape(-1, 8) for batch in batches])
        assert ((together - together[:, :1]) % 400 == np.arange(8)).all()
        assert (np.diff(together[:, 0]) != 8).any()
        starts.append(int(together[0, 0]) % 8)
    assert len(set(starts)) > 1


def test_a_document_of_code_alone_has_no_name_no_path_and_no_docstring():
    row = Row("a/b", "b", "src/lines.go", "Reader.all", "all", "go", "func x() {}", "Read it", "Rest of it")
    assert texts_of_row(row) == ("Read it", join_fields("Reader.all", "Rest of it", row.code, path=row.path))
    assert texts_of_row(row, "code") == ("Read it", join_fields("", "", row.code))
    assert texts_of_row(without_name(row), "code") == ("all", join_fields("", "", row.code))


def test_token_ids_above_16_bits_are_an_error():
    assert short_ids(np.array([0, 65_535])).tolist() == [0, 65_535]
    with pytest.raises(TrainingError, match="token id 65536: give a vocabulary of at most 65,536 tokens"):
        short_ids(np.array([3, 65_536]))


def test_a_name_sample_hides_the_name_and_the_docstring():
    row = Row(
        "a/b", "b", "x", "A.readLines", "readLines", "java", "void readLines() { readLines(1); }", "d", "rest"
    )
    query, document = texts_of_row(without_name(row))
    assert query == "readLines"
    assert "readLines" not in document and "rest" not in document and document.startswith("A.")


def test_few_validation_pairs_shrink_the_pool_with_a_warning(data, tmp_path, caplog):
    tokenizer, train_set, valid_set = data
    model = build_model(CONFIG, tokenizer.vocabulary_size, [train_set])
    progress = fit(model, CONFIG, [part(train_set)], [part(valid_set)], tmp_path)
    assert progress.best_mrr > 0.8 and progress.best_epoch > 0
    assert "validation pools of documentation have 100 pairs, not 1000" in caplog.text


def test_training_without_validation_pairs_is_refused(data, tmp_path):
    tokenizer, train_set, _ = data
    model = build_model(CONFIG, tokenizer.vocabulary_size, [train_set])
    nothing = make_samples([], tokenizer, max_query_tokens=30, max_document_tokens=60)
    with pytest.raises(
        TrainingError, match="0 validation pairs, .*: whole repositories are held out, of at most 275"
    ):
        fit(model, CONFIG, [part(train_set)], [part(nothing)], tmp_path)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"batch_size": 1}, "batch_size 1: Input should be greater than or equal to 2"),
        ({"patience": 0}, "patience 0: Input should be greater than or equal to 1"),
        ({"architecture": "bert", "dim": 30}, "dim 30: 4 heads need a multiple of 4"),
        (
            {"architecture": "bert", "max_query_tokens": 9, "max_document_tokens": 8},
            "max_query_tokens 9: bert has only the positions of a document: give at most 8",
        ),
        ({"dropout": 2.0}, "dropout 2.0: Input should be less than or equal to 0.99"),
        ({"dropout": 0.1}, "dropout: only cnn, birnn, selfatt, cnn-selfatt have it: .* table_dropout"),
        ({"positions": True}, "positions: only cnn, birnn, selfatt, cnn-selfatt have it"),
        ({"architecture": "ncs", "table_dropout": 0.1}, "table_dropout: ncs has none"),
        ({"vocabulary_size": 70_000}, "vocabulary_size 70000: Input should be less than or equal to 65536"),
        ({"temperature": 0.0}, "temperature 0.0: Input should be greater than or equal to 0.000001"),
        ({"learning_rate": float("nan")}, "learning_rate nan: Input should be a finite number"),
    ],
)
def test_a_setting_out_of_bounds_is_one_line(setting, message):
    with pytest.raises(TrainingError, match=message):
        TrainConfig(**setting)


def test_the_learning_rate_falls_to_its_last_share(data, tmp_path, monkeypatch):
    shares = []
    step = torch.optim.Adam.step

    def watched(self, *arguments, **options):
        shares.append({round(group["lr"] / group["initial_lr"], 4) for group in self.param_groups})
        return step(self, *arguments, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    config = dataclasses.replace(CONFIG, epochs=2, batch_size=100, decay=0.25, body_learning_rate=0.004)
    train(data, tmp_path / "run", config)
    assert shares == [{round(1 - 0.75 * done / 8, 4)} for done in range(8)]
    shares.clear()
    config = dataclasses.replace(config, warmup=0.25, schedule="cosine")
    train(data, tmp_path / "other", config)
    falling = [0.25 + 0.75 * (1 + math.cos(math.pi * done / 6)) / 2 for done in range(6)]
    assert shares == [{round(share, 4)} for share in (1 / 3, 2 / 3, *falling)]


def test_the_gradient_is_clipped_to_the_norm_that_is_set(data, tmp_path, monkeypatch):
    norms = []
    step = torch.optim.Adam.step

    def watched(self, *arguments, **options):
        gradients = [
            one.grad.flatten()
            for group in self.param_groups
            for one in group["params"]
            if one.grad is not None
        ]
        norms.append(float(torch.cat(gradients).norm()))
        return step(self, *arguments, **options)

    monkeypatch.setattr(torch.optim.Adam, "step", watched)
    train(data, tmp_path / "free", dataclasses.replace(CONFIG, epochs=1))
    free = norms[:]
    norms.clear()
    train(data, tmp_path / "clipped", dataclasses.replace(CONFIG, epochs=1, gradient_clip=0.01))
    assert max(free) > 0.02 and max(norms) <= 0.0101
