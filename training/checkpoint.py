"""A run folder: its settings, its progress and its best weights.

- `config.json`: settings, seed, data hash, git commit, versions
- `tokenizer.json`: the vocabulary
- `metrics.jsonl`: a line for each epoch; `curve.png` plots them
- `checkpoint.pt`: model, optimizer and progress, written about once a minute and after each epoch
- `weights.pt`: the model of the best epoch
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from codesearch.files import atomic_writer, write_atomically
from training.config import TrainConfig
from training.errors import TrainingError

CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS = "checkpoint.pt", "weights.pt"


def data_hash(paths: Sequence[Path]) -> str:
    """Hash the names and contents of corpus files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def git_commit() -> str:
    """Return the commit of the checkout, or "" outside one."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return done.stdout.strip()


def is_begun(run: Path, config: TrainConfig, data: str) -> bool:
    """Return whether a run was started before with the same settings and data.

    Raises:
        TrainingError: it was started with others.
    """
    if not (run / CONFIG).exists():
        return False
    known = read_config(run)
    if any(known.get(key, "") != value for key, value in _decisive(config, data).items()):
        raise TrainingError(f"{run / CONFIG}: started with other settings or data: give another --run folder")
    return True


def write_config(
    run: Path,
    config: TrainConfig,
    data: str,
    *,
    packages: Sequence[str],
    languages: Sequence[str],
    pairs: int,
) -> None:
    """Write the settings and facts that a run starts with."""
    record = {
        **_decisive(config, data),
        "git_commit": git_commit(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "pairs": pairs,
        "languages": list(languages),
        "trained_on": list(packages),
    }
    run.mkdir(parents=True, exist_ok=True)
    (run / CONFIG).write_text(json.dumps(record, indent=1) + "\n", "utf-8")


def _decisive(config: TrainConfig, data: str) -> dict[str, Any]:
    return {"config": asdict(config), "data_hash": data}


def read_config(run: Path) -> dict[str, Any]:
    """Read the config.json of a run.

    Raises:
        TrainingError: there is none.
    """
    path = run / CONFIG
    if not path.exists():
        raise TrainingError(f"{path} is not there: run `python -m training train --run {run}` first")
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return record


def save(state: object, path: Path) -> None:
    """Write a torch file; if the process is killed, the file is the old one or the new one."""
    with atomic_writer(path) as file:
        torch.save(state, file)


def load(path: Path) -> Any:  # noqa: ANN401 - any saved value.
    """Read a torch file of tensors and plain values."""
    return torch.load(path, map_location="cpu", weights_only=True)


def append_metrics(run: Path, record: dict[str, object], epoch: int) -> None:
    """Add the line of an epoch; first remove lines of that epoch or later, which a killed run left."""
    path = run / METRICS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["epoch"] < epoch]
    write_atomically(path, ("\n".join([*kept, json.dumps(record)]) + "\n").encode())
