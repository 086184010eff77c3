"""Training on a CUDA device: equal to the CPU's, finite in half precision, resumed, and without waits."""

import json
import math
from contextlib import nullcontext
from dataclasses import replace
from glob import glob

import numpy as np
import pytest

if not glob("/dev/nvidia[0-9]*"):
    pytest.skip("no NVIDIA device", allow_module_level=True)
torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)

from tests.unit.training.conftest import part  # noqa: E402
from training import loop  # noqa: E402
from training.build import build_model  # noqa: E402
from training.config import config_path, read_train_recipe  # noqa: E402
from training.objectives import PairObjective  # noqa: E402
from training.pipeline import fit  # noqa: E402
from training.samples import Samples, pack  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:RNN module weights", "ignore:Synchronization debug mode"),
]
ARCHITECTURES = ("nbow", "nbow-teacher", "unif", "cnn", "birnn", "selfatt", "cnn-selfatt", "bert")
CUDA, WORDS = torch.device("cuda"), 500
SMALL = {"bert": {"layers": 2, "heads": 4, "hidden_dim": 128, "frozen_layers": 1}}


def small(name, **settings):
    """Return shipped settings for a small model without dropout, which devices draw differently."""
    fixed = {"dim": 64, "batch_size": 64, "dropout": 0.0, "token_dropout": 0.0, "initial_vectors": "noise"}
    recipe = read_train_recipe(config_path(name)).settings
    return replace(recipe, **{**fixed, **SMALL.get(name, {}), **settings})


def made_samples(count, seed=0):
    """Return pairs whose queries and documents share no words, so that only training can match them."""
    draw = np.random.default_rng(seed)
    queries = [draw.integers(4, WORDS, size) for size in draw.integers(2, 12, count)]
    documents = [
        draw.permutation(np.concatenate([query + WORDS, draw.integers(4, 2 * WORDS, size)]))
        for query, size in zip(queries, draw.integers(1, 40, count), strict=True)
    ]
    return Samples(
        queries=pack(queries),
        documents=pack(documents),
        names=pack([np.zeros(0)] * count),
        nameless=pack([np.zeros(0)] * count),
        languages=np.zeros(count, np.int64),
        language_names=("go",),
        answers=np.arange(count),
        weights=np.ones(count, np.float32),
        wrong=pack([np.zeros(0)] * count, np.int64),
    )


def stirred(config, samples):
    """Return a model whose layers all change their input, unlike those of an untrained one."""
    model = build_model(config, 2 * WORDS, [samples])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.05 * torch.randn(parameter.shape)
    return model


def fitted(run, config, count=640, **options):
    """Train on the GPU; return the loss of each epoch."""
    samples, valid = made_samples(count), made_samples(100, 1)
    model = build_model(config, 2 * WORDS, [samples])
    run.mkdir(exist_ok=True)
    fit(model, config, [part(samples)], [part(valid)], run, device=CUDA, pool=100, **options)
    return [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("chunk", [0, 24])
def test_a_step_in_float32_has_the_loss_and_the_gradients_of_the_cpu(name, chunk, monkeypatch):
    monkeypatch.setattr(torch, "autocast", lambda *_, **__: nullcontext())
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    config, samples, found = small(name, chunk=chunk), made_samples(64), {}
    for device in ("cpu", "cuda"):
        model = stirred(config, samples).to(device)
        objective = PairObjective(model, config, [part(samples)], torch.device(device))
        objective.start(0)
        loss = objective.backward(objective.prepare(0, 1), 1)
        gradients = {key: its.grad.cpu() for key, its in model.named_parameters() if its.grad is not None}
        found[device] = (float(loss), gradients)
    (loss, gradients), (expected_loss, expected) = found["cuda"], found["cpu"]
    assert loss == pytest.approx(expected_loss, rel=1e-4)
    assert gradients.keys() == expected.keys()
    for key, gradient in expected.items():
        atol = 1e-3 * float(gradient.abs().max()) + 1e-7
        torch.testing.assert_close(
            gradients[key], gradient, rtol=1e-3, atol=atol, msg=lambda m, k=key: f"{k}: {m}"
        )


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_training_in_mixed_precision_lowers_a_finite_loss(name, tmp_path):
    losses = fitted(tmp_path, small(name, epochs=4, body_learning_rate=0.001, frozen_layers=0))
    assert all(map(math.isfinite, losses))
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", ["nbow", "bert"])
def test_a_resumed_run_has_the_same_curve(name, tmp_path, monkeypatch):
    config = small(name, epochs=2, frozen_layers=0)
    expected = fitted(tmp_path / "whole", config)
    step = loop._Trainer._step

    def stopped(self, number, *rest):
        if (self.progress.epoch, number) == (1, 4):
            raise InterruptedError
        step(self, number, *rest)

    with monkeypatch.context() as patched, pytest.raises(InterruptedError):
        patched.setattr(loop._Trainer, "_step", stopped)
        fitted(tmp_path / "stopped", config, checkpoint_s=0)
    assert fitted(tmp_path / "stopped", config) == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize("chunk", [0, 24])
def test_a_step_does_not_wait_for_the_device(name, chunk, tmp_path, monkeypatch):
    """If the CPU waited, the device would be idle until the next step is queued."""
    step = loop._Trainer._step
    watched = []

    def strict(self, number, *rest):
        if number < 3:  # The first ones allocate memory and choose kernels.
            return step(self, number, *rest)
        torch.cuda.set_sync_debug_mode("error")
        try:
            step(self, number, *rest)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        watched.append(number)

    monkeypatch.setattr(loop._Trainer, "_step", strict)
    fitted(tmp_path, small(name, epochs=1, chunk=chunk, gradient_clip=1.0), 512)
    assert watched == [3, 4, 5, 6, 7]
