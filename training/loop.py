"""Samples and settings -> a trained run folder; a killed run goes on at the step of its last checkpoint.

What a step does depends on the seed, its number and the weights alone, so a resumed run has the same curve.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from training import checkpoint
from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.evaluate import POOL, mrr_by_language
from training.objectives import Objective, make_objective
from training.plot import plot_curve
from training.samples import Samples

CHECKPOINT_S = 60.0
_VALIDATION_POOLS = 5
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """How far a run is.

    Attributes:
        epoch: whole epochs behind it.
        step: steps of the current epoch behind it.
        loss: sum over the pairs of those steps.
        pairs: how many these are.
        train_s: seconds in those steps.
    """

    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    pairs: int = 0
    train_s: float = 0.0
    best_mrr: float = -1.0
    best_epoch: int = -1


def build_model(
    config: TrainConfig, vocabulary_size: int, train: Samples | None = None, languages: tuple[str, ...] = ()
) -> JointEncoder:
    """Make an untrained model; weights of tokens start from the idf of `train` where it is given."""
    torch.manual_seed(config.seed)
    model = JointEncoder(config, vocabulary_size, train.language_names if train else languages)
    if train is not None:
        model.set_idf(log_idf(train, vocabulary_size), config.idf_power)
    return model


def log_idf(samples: Samples, vocabulary_size: int) -> Tensor:
    """Compute the log of log(N / df) of each token over documents: float32 [V], lowest for frequent tokens."""
    documents = samples.documents
    owners = np.repeat(np.arange(len(documents)), documents.lengths)
    pairs = np.unique(owners * vocabulary_size + documents.ids)
    df = np.bincount(pairs % vocabulary_size, minlength=vocabulary_size)
    idf = np.log((len(documents) + 1) / (df + 1)) + 0.1
    return torch.from_numpy(np.log(idf).astype(np.float32))


def train(
    model: JointEncoder,
    config: TrainConfig,
    train_set: Samples,
    valid_set: Samples,
    run: Path,
    *,
    pool: int = POOL,
    device: torch.device | None = None,
    checkpoint_s: float = CHECKPOINT_S,
) -> Progress:
    """Train until the epochs or the patience are used up; return where it ended.

    Args:
        model: as `build_model` makes it; holds the last epoch's weights afterwards.
        config: settings.
        train_set: pairs to learn from.
        valid_set: pairs whose MRR decides which epoch is kept.
        run: folder for the checkpoint, the best weights, the metrics and their plot.
        pool: pairs a validation pool.
        device: where to train; bfloat16 on CUDA.
        checkpoint_s: seconds between checkpoints inside an epoch.
    """
    device = device or torch.device("cpu")
    model.to(device)
    optimizer = make_optimizer(model, config)
    objective = make_objective(model, config, train_set, device)
    progress, state = _resume(model, optimizer, run)
    while progress.epoch < config.epochs and progress.epoch - progress.best_epoch <= config.patience:
        epoch = progress.epoch
        objective.start(epoch, state)
        _train_epoch(model, optimizer, config, objective, progress, run, checkpoint_s)
        mrr = mrr_by_language(model, valid_set, pool, _VALIDATION_POOLS, device)
        record = {
            "epoch": epoch,
            "loss": progress.loss / max(1, progress.pairs),
            "valid_mrr": mrr,
            "train_s": round(progress.train_s, 1),
        }
        progress = Progress(epoch + 1, best_mrr=progress.best_mrr, best_epoch=progress.best_epoch)
        if mrr["average"] > progress.best_mrr:
            progress.best_mrr, progress.best_epoch = mrr["average"], epoch
            checkpoint.save(model.state_dict(), run / checkpoint.WEIGHTS)
        checkpoint.append_metrics(run, record, epoch)
        state = None
        _save(model, optimizer, progress, None, run)
        plot_curve(run)
        _log.info("epoch %d: loss %.4f, validation MRR %.4f", epoch, record["loss"], mrr["average"])
    return progress


def make_optimizer(model: JointEncoder, config: TrainConfig) -> torch.optim.Optimizer:
    """Make Adam with one rate for what a token has its own row of, another for all else."""
    tables, body = [], []
    for name, parameter in model.named_parameters():
        by_token = name.endswith(("table.weight", "log_weight", "context.weight"))
        (tables if by_token else body).append(parameter)
    groups = [
        {"params": tables, "base": config.learning_rate},
        {"params": body, "base": config.body_learning_rate},
    ]
    return torch.optim.Adam([group for group in groups if group["params"]], fused=True)


def _train_epoch(
    model: JointEncoder,
    optimizer: torch.optim.Optimizer,
    config: TrainConfig,
    objective: Objective,
    progress: Progress,
    run: Path,
    checkpoint_s: float,
) -> None:
    model.train()
    steps, saved = objective.steps, time.perf_counter()
    for step in tqdm(
        range(progress.step, steps), initial=progress.step, total=steps, desc=f"epoch {progress.epoch}"
    ):
        started = time.perf_counter()
        torch.manual_seed((config.seed * 1_000 + progress.epoch) * 1_000_000 + step)
        _set_rate(optimizer, config, progress.epoch + step / steps)
        loss, pairs = _step(model, optimizer, config, objective, step)
        now = time.perf_counter()
        progress.step, progress.pairs = step + 1, progress.pairs + pairs
        progress.loss += loss * pairs
        progress.train_s += now - started
        if now - saved >= checkpoint_s:
            _save(model, optimizer, progress, objective.state, run)
            saved = time.perf_counter()


def _step(
    model: JointEncoder,
    optimizer: torch.optim.Optimizer,
    config: TrainConfig,
    objective: Objective,
    step: int,
) -> tuple[float, int]:
    device = next(model.parameters()).device
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        loss, pairs = objective.loss(step)
    optimizer.zero_grad()
    loss.backward()
    if config.gradient_clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.gradient_clip)
    optimizer.step()
    return float(loss.detach()), pairs


def _set_rate(optimizer: torch.optim.Optimizer, config: TrainConfig, epochs_done: float) -> None:
    left = 1 - epochs_done / config.epochs
    for group in optimizer.param_groups:
        group["lr"] = group["base"] * (config.decay + (1 - config.decay) * left)


def _save(
    model: JointEncoder,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    objective_state: Tensor | None,
    run: Path,
) -> None:
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "progress": asdict(progress),
        "objective": objective_state,
    }
    checkpoint.save(state, run / checkpoint.CHECKPOINT)


def _resume(
    model: JointEncoder, optimizer: torch.optim.Optimizer, run: Path
) -> tuple[Progress, Tensor | None]:
    path = run / checkpoint.CHECKPOINT
    if not path.exists():
        return Progress(), None
    state = checkpoint.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    progress = Progress(**state["progress"])
    _log.info("resuming at epoch %d, step %d", progress.epoch, progress.step)
    return progress, state["objective"]
