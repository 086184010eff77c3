"""Samples and settings -> a trained run folder; a killed run continues at the step of its last checkpoint.

A step depends only on the seed, its number and the weights, so a resumed run has the same curve.
"""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from training import checkpoint
from training.config import TrainConfig
from training.encoders.joint import JointEncoder
from training.errors import TrainingError
from training.evaluate import POOL, mrr_by_language
from training.objectives import Objective, make_objective
from training.plot import plot_curve
from training.samples import Samples

CHECKPOINT_S = 60.0
_LEAST_POOL = 2
_SHOWN_STEPS = 20
"""After so many steps, the progress bar shows the mean loss again."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """The progress of a run.

    Attributes:
        epoch: number of completed epochs.
        step: completed steps of the current epoch.
        loss: sum over the pairs of those steps.
        pairs: number of these pairs.
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
    """Make an untrained model; if `train` is given, weights of tokens start from its idf."""
    torch.manual_seed(config.seed)
    model = JointEncoder(config, vocabulary_size, train.language_names if train else languages)
    if train is not None:
        model.set_idf(log_idf(train, vocabulary_size), config.idf_power)
        model.set_shares(token_shares(train, vocabulary_size))
    return model


def log_idf(samples: Samples, vocabulary_size: int) -> Tensor:
    """Compute the log of log(N / df) of each token over documents: float32 [V], lowest for frequent tokens."""
    documents = samples.documents
    owners = np.repeat(np.arange(len(documents)), documents.lengths)
    pairs = np.unique(owners * vocabulary_size + documents.ids)
    df = np.bincount(pairs % vocabulary_size, minlength=vocabulary_size)
    idf = np.log((len(documents) + 1) / (df + 1)) + 0.1
    return torch.from_numpy(np.log(idf).astype(np.float32))


def token_shares(samples: Samples, vocabulary_size: int) -> Tensor:
    """Compute the share of each token in the running text of documents: float32 [V]."""
    counts = np.bincount(samples.documents.ids, minlength=vocabulary_size)
    return torch.from_numpy((counts / max(1, counts.sum())).astype(np.float32))


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
    """Train until the epochs or the patience are exhausted; return the final progress.

    Args:
        model: from `build_model`; it has the last epoch's weights afterwards.
        config: settings.
        train_set: pairs to learn from.
        valid_set: pairs whose MRR decides which epoch is kept.
        run: folder for the checkpoint, the best weights, the metrics and their plot.
        pool: number of pairs in a validation pool; if no language has as many, it is that of the largest language.
        device: where to train; bfloat16 on CUDA.
        checkpoint_s: seconds between checkpoints inside an epoch.

    Raises:
        TrainingError: no language has two validation pairs.
    """
    device = device or torch.device("cpu")
    model.to(device)
    pool = fitting_pool(valid_set, pool)
    weights = sum(parameter.numel() for parameter in model.parameters())
    _log.info("%s, %s weights, %s pairs to learn from", device, f"{weights:,}", f"{len(train_set):,}")
    trainer = _Trainer(model, config, make_objective(model, config, train_set, device), run)
    trainer.resume()
    while not trainer.is_done:
        record = trainer.train_epoch(checkpoint_s)
        record["valid_mrr"] = mrr_by_language(model, valid_set, pool, config.validation_pools, device)
        trainer.end_epoch(record)
    return trainer.progress


def fitting_pool(samples: Samples, pool: int) -> int:
    """Return the number of pairs in a validation pool; a smaller one if no language has enough pairs.

    Raises:
        TrainingError: no language has two pairs.
    """
    largest = max(np.bincount(samples.languages).tolist(), default=0)
    if largest < _LEAST_POOL:
        raise TrainingError(f"{largest} validation pairs: give a corpus with at least two of one language")
    if largest < pool:
        _log.warning(
            "validation pools have %d pairs, not %d: MRR is higher than published figures", largest, pool
        )
    return min(pool, largest)


class _Trainer:
    """A run in progress: the contents of a checkpoint, and its file."""

    def __init__(self, model: JointEncoder, config: TrainConfig, objective: Objective, run: Path) -> None:
        self.model, self.config, self.objective, self.run = model, config, objective, run
        self.optimizer = make_optimizer(model, config)
        self.progress = Progress()

    @property
    def is_done(self) -> bool:
        progress = self.progress
        stale = progress.epoch - progress.best_epoch > self.config.patience
        return stale or progress.epoch >= self.config.epochs

    def train_epoch(self, checkpoint_s: float) -> dict[str, Any]:
        """Run the remaining steps of the epoch; return the line of its metrics."""
        progress, saved = self.progress, time.perf_counter()
        self.objective.start(progress.epoch)
        self.model.train()
        steps = self.objective.steps
        left = range(progress.step, steps)
        bar = tqdm(left, initial=progress.step, total=steps, desc=f"epoch {progress.epoch}")
        for step in bar:
            started = time.perf_counter()
            self._step(step, progress.epoch + step / steps)
            progress.train_s += time.perf_counter() - started
            if step % _SHOWN_STEPS == 0:
                bar.set_postfix(loss=f"{progress.loss / max(1, progress.pairs):.4f}", refresh=False)
            if time.perf_counter() - saved >= checkpoint_s:
                self.save()
                saved = time.perf_counter()
        loss = progress.loss / max(1, progress.pairs)
        return {"epoch": progress.epoch, "loss": loss, "train_s": round(progress.train_s, 1)}

    def _step(self, step: int, epochs_done: float) -> None:
        config, progress = self.config, self.progress
        torch.manual_seed((config.seed * 1_000 + progress.epoch) * 1_000_000 + step)
        _set_rate(self.optimizer, config, epochs_done)
        kind = next(self.model.parameters()).device.type
        with torch.autocast(kind, torch.bfloat16, enabled=kind == "cuda"):
            loss, pairs = self.objective.loss(step)
        self.optimizer.zero_grad()
        loss.backward()
        if config.gradient_clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.gradient_clip)
        self.optimizer.step()
        progress.step = step + 1
        progress.pairs += pairs
        progress.loss += float(loss.detach()) * pairs

    def end_epoch(self, record: dict[str, Any]) -> None:
        """Keep the weights if they are the best so far, and write metrics, plot and checkpoint."""
        before, mrr = self.progress, record["valid_mrr"]["average"]
        self.progress = Progress(before.epoch + 1, best_mrr=before.best_mrr, best_epoch=before.best_epoch)
        if mrr > before.best_mrr:
            self.progress.best_mrr, self.progress.best_epoch = mrr, before.epoch
            checkpoint.save(self.model.state_dict(), self.run / checkpoint.WEIGHTS)
        checkpoint.append_metrics(self.run, record, before.epoch)
        self.save()
        plot_curve(self.run)
        _log.info("epoch %d: loss %.4f, validation MRR %.4f", before.epoch, record["loss"], mrr)

    def save(self) -> None:
        """Write the checkpoint."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "progress": asdict(self.progress),
        }
        checkpoint.save(state, self.run / checkpoint.CHECKPOINT)

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        path = self.run / checkpoint.CHECKPOINT
        if not path.exists():
            return
        state = checkpoint.load(path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.progress = Progress(**state["progress"])
        _log.info("resuming at epoch %d, step %d", self.progress.epoch, self.progress.step)


def make_optimizer(model: JointEncoder, config: TrainConfig) -> torch.optim.Optimizer:
    """Make Adam with one learning rate for tables with a row for each token, and another for all other weights."""
    tables: list[torch.nn.Parameter] = []
    body: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        by_token = name.endswith(("table.weight", "log_weight", "context.weight"))
        (tables if by_token else body).append(parameter)
    groups = [
        {"params": tables, "base": config.learning_rate},
        {"params": body, "base": config.body_learning_rate},
    ]
    return torch.optim.Adam([group for group in groups if group["params"]], fused=True)


def _set_rate(optimizer: torch.optim.Optimizer, config: TrainConfig, epochs_done: float) -> None:
    left = 1 - epochs_done / config.epochs
    for group in optimizer.param_groups:
        group["lr"] = group["base"] * (config.decay + (1 - config.decay) * left)
