"""Samples and settings -> a trained run folder, epoch by epoch; a killed run goes on where it was."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from training import checkpoint
from training.batches import batch_indices, batches
from training.config import TrainConfig
from training.encoders.nbow import NBowEncoder
from training.evaluate import POOL, mrr_by_language
from training.losses import symmetric_softmax
from training.samples import Samples

_VALIDATION_POOLS = 5
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Progress:
    """How far a run is; `epoch` counts the whole epochs behind it."""

    epoch: int = 0
    best_mrr: float = -1.0
    best_epoch: int = -1


def build_model(config: TrainConfig, vocabulary_size: int, train: Samples | None = None) -> NBowEncoder:
    """Make an untrained model; token weights start from the idf of `train` where it is given."""
    torch.manual_seed(config.seed)
    model = NBowEncoder(vocabulary_size, config.dim)
    if train is not None and config.idf_power:
        model.set_log_weights(idf_log_weights(train, vocabulary_size) * config.idf_power)
    return model


def idf_log_weights(samples: Samples, vocabulary_size: int) -> Tensor:
    """Compute the log of log(N / df) of each token over documents: float32 [V], lowest for frequent tokens."""
    documents = samples.documents
    owners = np.repeat(np.arange(len(documents)), np.diff(documents.starts))
    pairs = np.unique(owners * vocabulary_size + documents.ids)
    df = np.bincount(pairs % vocabulary_size, minlength=vocabulary_size)
    idf = np.log((len(documents) + 1) / (df + 1)) + 0.1
    return torch.from_numpy(np.log(idf).astype(np.float32))


def train(
    model: NBowEncoder,
    config: TrainConfig,
    train_set: Samples,
    valid_set: Samples,
    run: Path,
    pool: int = POOL,
) -> Progress:
    """Train until the epochs or the patience are used up; return where it ended.

    Args:
        model: as `build_model` makes it; holds the last epoch's weights afterwards.
        config: settings.
        train_set: pairs to learn from.
        valid_set: pairs whose MRR decides which epoch is kept.
        run: folder for the checkpoint, the best weights and the metrics.
        pool: pairs a validation pool.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=config.learning_rate, fused=True)
    progress = _resume(model, optimizer, run)
    while progress.epoch < config.epochs and progress.epoch - progress.best_epoch <= config.patience:
        epoch, started = progress.epoch, time.perf_counter()
        loss = _train_epoch(model, optimizer, config, train_set, epoch)
        trained = time.perf_counter()
        mrr = mrr_by_language(model, valid_set, pool, _VALIDATION_POOLS)
        progress.epoch += 1
        if mrr["average"] > progress.best_mrr:
            progress.best_mrr, progress.best_epoch = mrr["average"], epoch
            checkpoint.save(model.state_dict(), run / checkpoint.WEIGHTS)
        record = {"epoch": epoch, "loss": loss, "valid_mrr": mrr, "train_s": round(trained - started, 1)}
        checkpoint.append_metrics(run, record, epoch)
        _save(model, optimizer, progress, run)
        _log.info("epoch %d: loss %.4f, validation MRR %.4f", epoch, loss, mrr["average"])
    return progress


def _train_epoch(
    model: NBowEncoder, optimizer: torch.optim.Optimizer, config: TrainConfig, samples: Samples, epoch: int
) -> float:
    model.train()
    chunks = batch_indices(samples, config.batch_size, config.seed, epoch)
    chance = torch.Generator().manual_seed(config.seed * 1_000 + epoch)
    total, seen = 0.0, 0
    for step, batch in enumerate(tqdm(batches(samples, chunks), total=len(chunks), desc=f"epoch {epoch}")):
        query_ids, query_mask, document_ids, document_mask = batch
        document_mask = dropped_out(document_mask, config.token_dropout, chance)
        _set_rate(optimizer, config, epoch + step / len(chunks))
        loss = symmetric_softmax(
            model.query(query_ids, query_mask),
            model.document(document_ids, document_mask),
            config.temperature,
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, seen = total + float(loss.detach()) * len(query_ids), seen + len(query_ids)
    return total / max(1, seen)


def dropped_out(mask: Tensor, share: float, chance: torch.Generator) -> Tensor:
    """Zero a random share of a mask [B, T]."""
    return mask * (torch.rand(mask.shape, generator=chance) >= share) if share else mask


def _set_rate(optimizer: torch.optim.Optimizer, config: TrainConfig, epochs_done: float) -> None:
    left = 1 - epochs_done / config.epochs
    for group in optimizer.param_groups:
        group["lr"] = config.learning_rate * (config.decay + (1 - config.decay) * left)


def _save(model: NBowEncoder, optimizer: torch.optim.Optimizer, progress: Progress, run: Path) -> None:
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "progress": [progress.epoch, progress.best_mrr, progress.best_epoch],
    }
    checkpoint.save(state, run / checkpoint.CHECKPOINT)


def _resume(model: NBowEncoder, optimizer: torch.optim.Optimizer, run: Path) -> Progress:
    path = run / checkpoint.CHECKPOINT
    if not path.exists():
        return Progress()
    state = checkpoint.load(path)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    progress = Progress(*state["progress"])
    _log.info("resuming after epoch %d", progress.epoch - 1)
    return progress
