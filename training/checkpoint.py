"""A run folder: its settings, its progress and its best weights.

- `config.json`: settings, sources, seed, data hash, git commit, versions
- `tokenizer.json`: the vocabulary
- `metrics.jsonl`: a line for each epoch; `curve.png` plots them
- `weights.safetensors`: the model of the best epoch
- `checkpoint.safetensors`: to continue, the model as `model.NAME` and the optimizer's state as `optimizer.N.NAME` for
  its weight N, with the progress as metadata; written about once a minute and after each epoch
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from codesearch.files import write_atomically
from training.config import TrainConfig
from training.errors import TrainingError

_PROGRESS, _MODEL, _OPTIMIZER = "progress", "model.", "optimizer."
CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "weights.safetensors"


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
    """Return whether a run was started before with the same settings and data.

    Args:
        run: folder of the run.
        decisive: JSON values that decide its weights.

    Raises:
        TrainingError: it was started with others.
    """
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
    """Read the config.json of a run; settings that its version did not have are the defaults.

    Raises:
        TrainingError: there is none, or it has settings that are no more.
    """
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


def save(tensors: Mapping[str, Tensor], path: Path, progress: object = None) -> None:
    """Write tensors and a JSON value; if the process is killed, the file is the old one or the new one.

    Tensors with one storage, such as those of an encoder for both sides, are written once, under their first name.
    """
    content = safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in _first_names(tensors).items()},
        {_PROGRESS: json.dumps(progress)},
    )
    write_atomically(path, content)


def load(path: Path) -> tuple[dict[str, Tensor], Any]:
    """Read the tensors and the JSON value of a file.

    Raises:
        TrainingError: the file is missing or damaged.
    """
    if not path.exists():
        raise TrainingError(f"{path} is not there: let `python -m training train` finish an epoch")
    try:
        with safetensors.safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}
            return tensors, json.loads((file.metadata() or {}).get(_PROGRESS, "null"))
    except safetensors.SafetensorError as error:
        raise TrainingError(f"{path}: damaged ({error}): delete it, or the run") from None


@torch.no_grad()
def fill(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Give a model the weights of a file.

    Raises:
        TrainingError: they are those of another model.
    """
    own = _first_names(model.state_dict())
    if {name: value.shape for name, value in own.items()} != {
        name: value.shape for name, value in tensors.items()
    }:
        raise TrainingError(
            f"weights {sorted(own.keys() ^ tensors.keys())[:3]}: not those of this model: train it again"
        )
    for name, value in own.items():
        value.copy_(tensors[name])


def save_state(model: nn.Module, optimizer: torch.optim.Optimizer, progress: object, run: Path) -> None:
    """Write what a run needs to continue."""
    tensors = {f"{_MODEL}{name}": value for name, value in model.state_dict().items()}
    for number, its in optimizer.state_dict()["state"].items():
        tensors |= {f"{_OPTIMIZER}{number}.{name}": value for name, value in its.items()}
    save(tensors, run / CHECKPOINT, progress)


def load_state(model: nn.Module, optimizer: torch.optim.Optimizer, run: Path) -> Any:  # noqa: ANN401 - as it was saved.
    """Continue from the checkpoint of a run; return the progress, or None if there is no checkpoint."""
    if not (run / CHECKPOINT).exists():
        return None
    tensors, progress = load(run / CHECKPOINT)
    fill(model, {name.removeprefix(_MODEL): one for name, one in tensors.items() if name.startswith(_MODEL)})
    state: dict[int, dict[str, Tensor]] = {}
    for name, one in tensors.items():
        if name.startswith(_OPTIMIZER):
            number, _, key = name.removeprefix(_OPTIMIZER).partition(".")
            state.setdefault(int(number), {})[key] = one
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return progress


def _first_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Keep the first of several names of one tensor."""
    found: dict[tuple[int, torch.Size], tuple[str, Tensor]] = {}
    for name, value in tensors.items():
        found.setdefault((value.data_ptr(), value.shape), (name, value))
    return dict(found.values())


def append_metrics(run: Path, record: dict[str, object], epoch: int) -> None:
    """Add the line of an epoch; first remove lines of that epoch or later, which a killed run left."""
    path = run / METRICS
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    kept = [line for line in lines if json.loads(line)["epoch"] < epoch]
    write_atomically(path, ("\n".join([*kept, json.dumps(record)]) + "\n").encode())
