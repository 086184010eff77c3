"""Trained runs of one vocabulary -> a run whose weights are their mean.

The mean of a pretrained model and its fine-tuned version is more robust to other data than either (Wortsman et al.,
"Robust fine-tuning of zero-shot models", 2022). The same holds for the mean of several runs ("Model soups", 2022).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from training import checkpoint
from training.encoders.bert import Bert
from training.errors import TrainingError
from training.pipeline import load_run
from training.pretrained import pretrained_weights


def average_runs(runs: Sequence[Path], out: Path, *, pretrained: bool = False) -> None:
    """Write a run whose weights are the mean of those of `runs`, with equal weight.

    Args:
        runs: trained runs of one architecture and vocabulary.
        out: run folder to write.
        pretrained: include the pretrained weights of `bert` as another run.

    Raises:
        TrainingError: a run is not trained, the runs differ in kind or vocabulary, or have no pretrained weights.
        MissingExtraError: the pretrained model is not installed.
    """
    records = [checkpoint.read_config(run) for run in runs]
    states = [load_run(run)[0].state_dict() for run in runs]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    vocabularies = {(run / checkpoint.TOKENIZER).read_bytes() for run in runs}
    if len(vocabularies) > 1 or any(its != shapes[0] for its in shapes):
        raise TrainingError(f"{runs[-1]}: another kind or vocabulary: train it with --vocabulary {runs[0]}")
    if pretrained:
        states.append(_pretrained(runs[0]))
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runs[0] / checkpoint.TOKENIZER, out / checkpoint.TOKENIZER)
    checkpoint.save(mean, out / checkpoint.WEIGHTS)
    record = records[0] | {
        "averaged": [run.name for run in runs] + ["pretrained"] * pretrained,
        "pairs": max(its["pairs"] for its in records),
        "trained_on": sorted(set().union(*(its["trained_on"] for its in records))),
    }
    (out / checkpoint.CONFIG).write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def _pretrained(run: Path) -> dict[str, Tensor]:
    """Return the initial weights of both sides of a run of `bert`, by the names of the run's weights."""
    model, _, config = load_run(run)
    if not isinstance(model.query, Bert):
        raise TrainingError(f"{run}: {config.architecture} has no pretrained weights: leave --pretrained out")
    model.query.load_state_dict(pretrained_weights(run / checkpoint.TOKENIZER, config.max_document_tokens))
    return model.state_dict()
