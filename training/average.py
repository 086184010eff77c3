"""Trained runs of one vocabulary -> a run whose weights are their mean.

The mean of several runs is more robust to other data than each of them (Wortsman et al., "Model soups", 2022).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save

from codesearch.files import write_atomically
from training import checkpoint
from training.errors import TrainingError
from training.files import writing


def average_runs(runs: Sequence[Path], out: Path) -> None:
    """Write a run whose weights are the mean of those of `runs`, which differ only in the seed."""
    if not runs:
        raise TrainingError("no runs: name the folders of trained runs")
    records = [checkpoint.read_config(run) for run in runs]
    first = {**records[0]["config"], "seed": 0}
    vocabulary = (runs[0] / checkpoint.TOKENIZER).read_bytes()
    for run, record in zip(runs, records, strict=True):
        if changed := checkpoint.changed_settings(first, {**record["config"], "seed": 0}):
            raise TrainingError(f"{run}: other settings than {runs[0]}: {changed}: only the seed may differ")
        if (run / checkpoint.TOKENIZER).read_bytes() != vocabulary:
            raise TrainingError(f"{run}: another vocabulary: train it with --vocabulary {runs[0]}")
    states = [checkpoint.read_weights(run) for run in runs]
    shapes = [{name: value.shape for name, value in state.items()} for state in states]
    if any(its != shapes[0] for its in shapes):
        raise TrainingError(
            f"{runs[-1]}: other encoders than {runs[0]}: train it on data of the same languages"
        )
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    merged: dict[str, object] = {
        **records[0],
        "averaged": [run.name for run in runs],
        "pairs": max(its["pairs"] for its in records),
        "trained_on": sorted(set().union(*(its["trained_on"] for its in records))),
    }
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / checkpoint.TOKENIZER, vocabulary)
        write_atomically(out / checkpoint.WEIGHTS, save(mean))
        (out / checkpoint.CONFIG).write_text(json.dumps(merged, indent=1) + "\n", "utf-8")
