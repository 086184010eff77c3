"""Repeats the dimensions of a static model: `widen MODEL OUT TIMES`. The cosines do not change, but the work grows."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

_TENSORS = "model.safetensors"


def main(model: str, out: str, times: str) -> None:
    """Copy a model and repeat its token vectors `times` times in each row."""
    scratch = Path(f"{out}.part")
    shutil.copytree(model, scratch, dirs_exist_ok=True)
    tensors = load_file(scratch / _TENSORS)
    save_file({**tensors, "embeddings": np.tile(tensors["embeddings"], int(times))}, scratch / _TENSORS)
    scratch.rename(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
