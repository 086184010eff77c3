"""A model and an objective -> a trained run folder; a stopped run continues at the step of its last checkpoint.

A step depends only on the seed, its number and the weights, so a resumed run has the same curve.
"""

from __future__ import annotations

import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset
from tqdm import tqdm

from training import checkpoint
from training.batches import stream
from training.config import TrainConfig
from training.distributed import any_rank, barrier, rank, sum_gradients, world
from training.encoders.joint import JointEncoder
from training.files import TrainingError
from training.objectives import Objective

CHECKPOINT_S = 60.0
PREPARED = 4
"""Batches that wait for their step, for each worker process."""
SHOWN_S = 1.0
DIVERGED = 1e9
SHARED_STEPS = 50
"""Several processes agree on whether to stop, and look at the loss, once in this number of steps."""
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """Completed epochs and steps of the current one; sum of the losses, pairs and seconds of these steps."""

    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    pairs: int = 0
    train_s: float = 0.0
    best_mrr: float = -1.0
    best_epoch: int = -1


def train(
    model: JointEncoder,
    objective: Objective,
    config: TrainConfig,
    run: Path,
    validate: Callable[[], Mapping[str, float]],
    *,
    workers: int = 0,
    checkpoint_s: float = CHECKPOINT_S,
) -> Progress:
    """Train until the epochs or the patience are exhausted; return the final progress.

    If the loss diverges, which is looked at every second, the weights of the best epoch stay. At Ctrl-C, the
    checkpoint has all finished steps. The model has the last epoch's weights afterwards; `average` of `validate`, which
    every process calls, decides which epoch the run keeps. `workers` processes prepare batches ahead of their step.
    `checkpoint_s` is the time between checkpoints.
    """
    trainer = _Trainer(model, config, objective, run)
    trainer.resume()
    with interruptions() as stopped:
        while not trainer.is_done:
            record = trainer.train_epoch(checkpoint_s, workers, stopped)
            model.eval()
            record["valid_mrr"] = validate()
            trainer.end_epoch(record)
    done = trainer.progress
    if not rank():
        _log.info("%s: finished after %d epochs, kept epoch %d", run, done.epoch, done.best_epoch + 1)
    return done


@contextmanager
def interruptions() -> Iterator[threading.Event]:
    """Set the event at the first Ctrl-C; the next one interrupts at once."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopped.set()
        signal.signal(signal.SIGINT, before)

    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True, slots=True)
class _Steps(Dataset[Any]):
    """The batches of an epoch, by the number of their step."""

    objective: Objective
    seed: Callable[[int], int]

    def __getitem__(self, step: int) -> Any:  # noqa: ANN401 - the objective's kind of batch.
        return self.objective.prepare(step, self.seed(step))


def _ignore_interrupts(worker: int) -> None:
    """Leave Ctrl-C, which the terminal sends to workers too, to the main process: it finishes its step."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Trainer:
    """A run in progress: the contents of a checkpoint, and its file, which the first process writes."""

    def __init__(self, model: JointEncoder, config: TrainConfig, objective: Objective, run: Path) -> None:
        self.model, self.config, self.objective, self.run = model, config, objective, run
        self.optimizer = make_optimizer(model, config)
        self.progress = Progress()
        self._losses: list[tuple[Tensor, int]] = []

    @property
    def is_done(self) -> bool:
        progress = self.progress
        stale = progress.epoch - progress.best_epoch > self.config.patience
        return stale or progress.epoch >= self.config.epochs

    def train_epoch(self, checkpoint_s: float, workers: int, stopped: threading.Event) -> dict[str, Any]:
        """Run the remaining steps of the epoch; return the line of its metrics."""
        progress, device = self.progress, next(self.model.parameters()).device
        steps = self.objective.start(progress.epoch)
        first = steps * progress.epoch
        self.model.train()
        shown = saved = started = time.perf_counter()
        with self._bar(steps) as bar:
            loader = DataLoader(
                _Steps(self.objective, self._seed),
                batch_size=None,
                sampler=range(progress.step, steps),
                num_workers=workers,
                # Pickled for another start method, mapped samples would be copied.
                multiprocessing_context="fork" if workers else None,
                worker_init_fn=_ignore_interrupts,
                prefetch_factor=PREPARED if workers else None,
                pin_memory=device.type == "cuda",
            )
            rates = LambdaLR(
                self.optimizer, partial(_share_of_rate, self.config, steps), first + progress.step - 1
            )
            for step, batch in enumerate(loader, progress.step):
                self._step(step, batch)
                rates.step()
                now = time.perf_counter()
                progress.train_s, started = progress.train_s + now - started, now
                bar.update()
                if world() > 1 and progress.step % SHARED_STEPS:
                    continue
                stop = any_rank(stopped.is_set(), device)
                if stop or now - saved >= checkpoint_s:
                    self.save()
                    saved = now
                if stop:
                    barrier()
                    raise KeyboardInterrupt
                if world() > 1 or now - shown >= SHOWN_S:  # All processes see the same loss, so all stop.
                    bar.set_postfix(loss=f"{self.mean_loss():.4f}", refresh=False)
                    shown = now
        return {"epoch": progress.epoch, "loss": self.mean_loss(), "train_s": round(progress.train_s, 1)}

    def _bar(self, steps: int) -> tqdm[Any]:
        """Make a bar of the whole run, so that its estimate is that of the run."""
        progress, epochs = self.progress, self.config.epochs
        return tqdm(
            desc=f"epoch {progress.epoch + 1} of {epochs}",
            total=steps * epochs,
            initial=steps * progress.epoch + progress.step,
            unit="step",
            disable=True if rank() else None,
        )

    def mean_loss(self) -> float:
        """Return the mean loss of the epoch so far, unless it diverges; this waits for the device."""
        progress = self.progress
        for loss, pairs in self._losses:
            progress.loss += float(loss) * pairs
        self._losses.clear()
        mean = progress.loss / max(1, progress.pairs)
        if not abs(mean) < DIVERGED:  # NaN is not less either.
            raise TrainingError(
                f"{self.run}: the loss of epoch {progress.epoch + 1} is {mean:.3g} at step {progress.step}: "
                "give lower learning rates and another --run folder"
            )
        return mean

    def _seed(self, step: int) -> int:
        return stream(self.config.seed, self.progress.epoch, step)

    def _step(self, step: int, batch: Any) -> None:  # noqa: ANN401 - the objective's kind of batch.
        config, progress = self.config, self.progress
        self.optimizer.zero_grad()
        loss = self.objective.backward(batch, self._seed(step))
        sum_gradients(self.model.parameters())
        if config.gradient_clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.gradient_clip)
        self.optimizer.step()
        progress.step = step + 1
        progress.pairs += batch.pairs
        self._losses.append((loss, batch.pairs))

    def end_epoch(self, record: dict[str, Any]) -> None:
        """Keep the weights if they are the best so far, and write metrics, plot and checkpoint."""
        before, mrr = self.progress, record["valid_mrr"]["average"]
        self.progress = Progress(before.epoch + 1, best_mrr=before.best_mrr, best_epoch=before.best_epoch)
        is_best = mrr > before.best_mrr
        if is_best:
            self.progress.best_mrr, self.progress.best_epoch = mrr, before.epoch
        if rank():
            return
        if is_best:
            checkpoint.save_weights(self.model, self.run)
        checkpoint.append_metrics(self.run, record, before.epoch)
        self.save()
        checkpoint.plot_curve(self.run)
        _log.info("epoch %d: loss %.4f, validation MRR %.4f", before.epoch + 1, record["loss"], mrr)

    def save(self) -> None:
        """Write the checkpoint."""
        self.mean_loss()
        if not rank():
            states = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
            checkpoint.save_state(self.run, {**states, "progress": asdict(self.progress)})

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        state = checkpoint.load_state(self.run)
        if state:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.progress = Progress(**state["progress"])
            if not self.is_done:
                _log.info("resuming at epoch %d, step %d", self.progress.epoch + 1, self.progress.step)


def make_optimizer(model: JointEncoder, config: TrainConfig) -> torch.optim.Optimizer:
    """Make Adam with learning rates for vectors and weights of tokens, and for all other weights."""
    by_token: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            is_by_token = name.endswith(("table.weight", "context.weight", "log_weight"))
            (by_token if is_by_token else others).append(parameter)
    groups = ((by_token, config.learning_rate), (others, config.body_learning_rate))
    return torch.optim.Adam(
        [{"params": its, "lr": rate, "initial_lr": rate} for its, rate in groups if its], fused=True
    )


def _share_of_rate(config: TrainConfig, steps: int, step: int) -> float:
    """Return the learning rate of a step, counted over all epochs, as a share of the highest one."""
    total = steps * config.epochs
    rising = int(config.warmup * total)
    if step < rising:
        return (step + 1) / (rising + 1)
    left = 1 - (step - rising) / (total - rising)
    if config.schedule == "cosine":
        left = (1 - math.cos(math.pi * left)) / 2
    return config.decay + (1 - config.decay) * left
