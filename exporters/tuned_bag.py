"""A tuned bag -> a bundle like the one that it started from."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import torch

from codesearch.encoding.bundle import DOCUMENT, QUERY, TOKENIZER, read_manifest
from exporters.bundle import row_places_of, write_manifest
from exporters.onnx import tower_graph
from training.encoders.bag import BagTower
from training.errors import TrainingError
from training.tuning.train import LOG, TABLES

_OF_FILES = ("format", "files", "rows")


def write_tuned_bag(run: Path, start: Path, out: Path, name: str) -> dict[str, Any]:
    """Export a run of `python -m training tune` in int8; return the manifest.

    Args:
        run: folder of the run.
        start: the bundle that it started from.
        out: bundle folder to write.
        name: in the manifest.

    Raises:
        TrainingError: the run has not ended.
    """
    if not (run / TABLES).exists():
        raise TrainingError(f"{run}: no {TABLES}: run `python -m training tune` to its end")
    manifest = read_manifest(start)
    out.mkdir(parents=True, exist_ok=True)
    with np.load(run / TABLES) as tables:
        for file, rows in ((QUERY, tables["query"]), (DOCUMENT, tables["document"])):
            power = 1.0 + manifest["rows"][file].get("repeat_power", 0.0)
            tower = BagTower(len(rows), rows.shape[1], count_power=power)
            tower.table.weight.data = torch.from_numpy(rows)
            (out / file).write_bytes(tower_graph(tower, "int8").SerializeToString())
    shutil.copyfile(run / TOKENIZER, out / TOKENIZER)
    epochs = [json.loads(line) for line in (run / LOG).read_text("utf-8").splitlines()]
    described = {key: value for key, value in manifest.items() if key not in _OF_FILES}
    described |= {"name": name, "rows": row_places_of(out, (QUERY, DOCUMENT)), "tuned": epochs[-1]}
    return write_manifest(out, described, (QUERY, DOCUMENT, TOKENIZER))
