"""A run folder: its settings, its progress and its best weights.

- `config.json`: settings, sources, seed, data hash, git commit, versions
- `tokenizer.json`: the vocabulary
- `metrics.jsonl`: a line for each epoch; `curve.png` plots them
- `weights.safetensors`: the model of the best epoch
- `checkpoint.pt`: to continue, the states of model and optimizer and the progress; written about once a minute and
  after each epoch
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from codesearch.files import atomic_writer, write_atomically
from training.config import TrainConfig
from training.errors import TrainingError

CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS = "checkpoint.pt", "weights.safetensors"


def data_hash(paths: Sequence[Path]) -> str:
    """Hash the names and contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        with path.open("rb") as file:
            digest.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def git_commit() -> str:
    """Return the commit of the checkout, or "" outside one."""
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=Path(__file__).parent, capture_output=True, text=True
    )
    return done.stdout.strip()


def is_begun(run: Path, decisive: Mapping[str, object]) -> bool:
    """Return whether a run was started before with the same settings and data."""
    if not (run / CONFIG).exists():
        return False
    known = read_config(run)
    if changed := [name for name, value in decisive.items() if known.get(name) != value]:
        raise TrainingError(
            f"{run / CONFIG}: started with other {_changed(known, decisive, changed)}: give another --run folder"
        )
    return True


def _changed(known: Mapping[str, Any], wanted: Mapping[str, Any], names: Sequence[str]) -> str:
    """Name what differs: single settings, or parts of the record."""
    if names != ["config"]:
        return "settings or data"
    before, now = known["config"], wanted["config"]
    return "settings: " + ", ".join(
        f"{name} {before.get(name)!r}, now {value!r}"
        for name, value in now.items()
        if before.get(name) != value
    )


def write_config(run: Path, record: Mapping[str, object]) -> None:
    """Write the settings and facts that a run starts with."""
    run.mkdir(parents=True, exist_ok=True)
    about = {
        "git_commit": git_commit(),
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
    }
    write_atomically(run / CONFIG, (json.dumps({**record, **about}, indent=1) + "\n").encode())


def read_config(run: Path) -> dict[str, Any]:
    """Read the config.json of a run; settings that its version did not have are the defaults."""
    path = run / CONFIG
    if not path.exists():
        raise TrainingError(f"{path} is not there: run `python -m training train --run {run}` first")
    record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    defaults = asdict(TrainConfig())
    if unknown := record["config"].keys() - defaults.keys():
        raise TrainingError(
            f"{path}: settings of another version ({', '.join(sorted(unknown))}): train it again"
        )
    record["config"] = defaults | record["config"]
    return record


def save_weights(model: nn.Module, run: Path) -> None:
    """Write the weights of a run; if the process is killed, the file is the old one or the new one."""
    part = run / f"{WEIGHTS}.part"
    safetensors.torch.save_model(model, str(part))
    part.chmod(run.stat().st_mode & 0o666)  # The library makes files that only their owner can read.
    part.replace(run / WEIGHTS)


def load_weights(model: nn.Module, run: Path) -> None:
    """Give a model the weights of a run."""
    path = run / WEIGHTS
    with _readable(path):
        try:
            safetensors.torch.load_model(model, path)
        except RuntimeError:
            raise TrainingError(f"{path}: not the weights of this model: train it again") from None


def read_weights(run: Path) -> dict[str, Tensor]:
    """Read the weights of a run by name; several names of one tensor are one."""
    with _readable(run / WEIGHTS):
        return safetensors.torch.load_file(run / WEIGHTS)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    if not path.exists():
        raise TrainingError(f"{path} is not there: let `python -m training train` finish an epoch")
    try:
        yield
    except safetensors.SafetensorError as error:
        raise TrainingError(f"{path}: damaged ({error}): delete it, or the run") from None


def save_state(run: Path, state: Mapping[str, Any]) -> None:
    """Write what a run needs to continue."""
    with atomic_writer(run / CHECKPOINT) as file:
        torch.save(state, file)


def load_state(run: Path) -> dict[str, Any] | None:
    """Read what `save_state` wrote, or return None if there is no checkpoint."""
    path = run / CHECKPOINT
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, UnpicklingError, EOFError) as error:
        reason = str(error).splitlines()[0]
        raise TrainingError(f"{path}: damaged ({reason}): delete it, or the run") from None
    return state


def append_metrics(run: Path, record: dict[str, object], epoch: int) -> None:
    """Add the line of an epoch; first remove lines of that epoch or later, which a killed run left."""
    path = run / METRICS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["epoch"] < epoch]
    write_atomically(path, ("\n".join([*kept, json.dumps(record)]) + "\n").encode())
