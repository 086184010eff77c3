"""A run folder: its settings, its progress and its best weights.

- `config.json`: settings, sources, seed, data hash, commit, machine, versions
- `tokenizer.json`: the vocabulary
- `metrics.jsonl`: a line for each epoch; `curve.png` plots them
- `weights.safetensors`: the model of the best epoch
- `checkpoint.pt`: to continue, the states of model and optimizer and the progress; written about once a minute and
  after each epoch
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NotRequired

import safetensors
import safetensors.torch
import torch
from pydantic import ConfigDict
from torch import Tensor, nn
from typing_extensions import TypedDict

from codesearch.errors import MissingExtraError
from codesearch.evaluation.result import describe_environment
from codesearch.files import atomic_writer, write_atomically
from training.config import TrainConfig
from training.files import TrainingError, read_json, writing

CONFIG, TOKENIZER, METRICS = "config.json", "tokenizer.json", "metrics.jsonl"
CHECKPOINT, WEIGHTS, CURVE = "checkpoint.pt", "weights.safetensors", "curve.png"


class Record(TypedDict):
    """What other modules read of `config.json`; the `vocabulary_hash` is that of `tokenizer.json`."""

    __pydantic_config__ = ConfigDict(extra="allow")
    config: dict[str, Any]
    data_hash: str
    pairs: int
    languages: list[str]
    trained_on: list[str]
    vocabulary_hash: NotRequired[str]


class Metrics(TypedDict):
    """What other modules read of a line of `metrics.jsonl`."""

    __pydantic_config__ = ConfigDict(extra="allow")
    epoch: int
    loss: float
    valid_mrr: dict[str, float]


def data_hash(paths: Sequence[Path]) -> str:
    """Hash the names and contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        with path.open("rb") as file:
            digest.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def is_begun(run: Path, decisive: Mapping[str, Any]) -> bool:
    """Return whether a run was started before with the same settings and data."""
    if not (run / CONFIG).exists():
        return False
    known = read_config(run)
    if changed := [name for name, value in decisive.items() if known.get(name) != value]:
        settings = changed_settings(known["config"], decisive["config"])
        details = f": {settings}" if changed == ["config"] else " or data"
        raise TrainingError(
            f"{run / CONFIG}: started with other settings{details}: give another --run folder"
        )
    return True


def changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Name the settings that differ, with both values; "" if none does."""
    return ", ".join(
        f"{name} {before.get(name)!r}, now {value!r}"
        for name, value in now.items()
        if before.get(name) != value
    )


def write_config(run: Path, record: Mapping[str, object]) -> None:
    """Write the settings and facts that a run starts with."""
    with writing(run / CONFIG):
        run.mkdir(parents=True, exist_ok=True)
        write_atomically(
            run / CONFIG, (json.dumps({**record, **describe_environment()}, indent=1) + "\n").encode()
        )


def read_config(run: Path) -> Record:
    """Read the config.json of a run; settings that its version did not have are the defaults."""
    path = run / CONFIG
    record = read_json(Record, path, f"run `python -m training train --run {run}` first")
    defaults = asdict(TrainConfig())
    if unknown := record["config"].keys() - defaults.keys():
        raise TrainingError(
            f"{path}: settings of another version ({', '.join(sorted(unknown))}): train it again"
        )
    record["config"] = defaults | record["config"]
    try:
        TrainConfig(**record["config"])
    except TrainingError as error:
        raise TrainingError(f"{path}: {error}: train it again") from None
    return record


def save_weights(model: nn.Module, run: Path) -> None:
    """Write the weights of a run; if the process is killed, the file is the old one or the new one."""
    part = run / f"{WEIGHTS}.part"
    with writing(run / WEIGHTS), _oserrors():
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
    with writing(run / CHECKPOINT), atomic_writer(run / CHECKPOINT) as file, _oserrors():
        torch.save(state, file)


@contextmanager
def _oserrors() -> Iterator[None]:
    """Turn what the libraries make of a full disk into what it is."""
    try:
        yield
    except (RuntimeError, safetensors.SafetensorError) as error:
        raise OSError(str(error).splitlines()[0]) from None


def load_state(run: Path) -> dict[str, Any] | None:
    """Read what `save_state` wrote, or return None if there is no checkpoint."""
    path = run / CHECKPOINT
    if not path.exists():
        return None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
        return {name: state[name] for name in ("model", "optimizer", "progress")}
    except (RuntimeError, UnpicklingError, EOFError, LookupError, TypeError, ValueError):
        raise TrainingError(f"{path}: damaged: delete it, or the run") from None


def append_metrics(run: Path, record: dict[str, object], epoch: int) -> None:
    """Add the line of an epoch; first remove lines of that epoch or later, which a killed run left."""
    path = run / METRICS
    kept = [line for line in read_metrics(run) if line["epoch"] < epoch] if path.exists() else []
    with writing(path):
        write_atomically(path, b"".join(json.dumps(line).encode() + b"\n" for line in (*kept, record)))


def read_metrics(run: Path) -> list[Metrics]:
    """Read the lines of the epochs."""
    return read_json(list[Metrics], run / METRICS, "delete it, or the run", lines=True)


def plot_curve(run: Path) -> None:
    """Draw the curve of the epochs so far."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise MissingExtraError("matplotlib") from None
    records = read_metrics(run)
    epochs = [record["epoch"] + 1 for record in records]
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    losses = figure.add_subplot()
    losses.plot(epochs, [record["loss"] for record in records], "o-", color="tab:red")
    losses.set(xlabel="epoch", title=run.name)
    losses.set_ylabel("training loss", color="tab:red")
    losses.xaxis.get_major_locator().set_params(integer=True)
    ranks = losses.twinx()
    for language in records[0]["valid_mrr"]:
        values = [record["valid_mrr"][language] for record in records]
        strong = {"lw": 2.5, "color": "tab:blue"} if language == "average" else {"lw": 0.8, "alpha": 0.6}
        ranks.plot(epochs, values, label=language, **strong)
    ranks.set_ylabel("validation MRR", color="tab:blue")
    ranks.legend(fontsize="small")
    figure.savefig(run / CURVE, dpi=120)


def average_runs(runs: Sequence[Path], out: Path) -> None:
    """Write a run whose weights are the mean of those of `runs`, which differ only in the seed.

    It is more robust to other data than each of them. *Source*: Wortsman et al. 2022 (Model soups).
    """
    if not runs:
        raise TrainingError("no runs: name the folders of trained runs")
    records = [read_config(run) for run in runs]
    first = {**records[0]["config"], "seed": 0}
    vocabulary = (runs[0] / TOKENIZER).read_bytes()
    for run, record in zip(runs, records, strict=True):
        if changed := changed_settings(first, {**record["config"], "seed": 0}):
            raise TrainingError(f"{run}: other settings than {runs[0]}: {changed}: only the seed may differ")
        if (run / TOKENIZER).read_bytes() != vocabulary:
            raise TrainingError(f"{run}: another vocabulary: train it with --vocabulary {runs[0]}")
    states = [read_weights(run) for run in runs]
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
        write_atomically(out / TOKENIZER, vocabulary)
        write_atomically(out / WEIGHTS, safetensors.torch.save(mean))
        (out / CONFIG).write_text(json.dumps(merged, indent=1) + "\n", "utf-8")
