"""Trained runs of one vocabulary -> a run whose weights are their mean.

The mean of several runs is more robust to other data than each of them (Wortsman et al., "Model soups", 2022).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save

from codesearch.files import write_atomically
from training import checkpoint
from training.errors import TrainingError


def average_runs(runs: Sequence[Path], out: Path) -> None:
    """Write a run whose weights are the mean of those of `runs`, of one architecture and vocabulary."""
    records = [checkpoint.read_config(run) for run in runs]
    states = [checkpoint.read_weights(run) for run in runs]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    vocabularies = {(run / checkpoint.TOKENIZER).read_bytes() for run in runs}
    texts = {tuple(record["config"][name] for name in ("documents", "count_power")) for record in records}
    if len(vocabularies) > 1 or len(texts) > 1 or any(its != shapes[0] for its in shapes):
        raise TrainingError(f"{runs[-1]}: another kind or vocabulary: train it with --vocabulary {runs[0]}")
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(runs[0] / checkpoint.TOKENIZER, out / checkpoint.TOKENIZER)
    write_atomically(out / checkpoint.WEIGHTS, save(mean))
    record = records[0] | {
        "averaged": [run.name for run in runs],
        "pairs": max(its["pairs"] for its in records),
        "trained_on": sorted(set().union(*(its["trained_on"] for its in records))),
    }
    (out / checkpoint.CONFIG).write_text(json.dumps(record, indent=1) + "\n", "utf-8")
