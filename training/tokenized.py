"""Samples in a folder under a hash of what decides them, so runs with the same vocabulary tokenize a source only once.

`NAME.bin` holds the array of that name in `samples.DTYPES`, `facts.json` the names of groups and packages. The arrays
are mapped: samples take memory only where they are read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from codesearch.files import scratch_folder
from codesearch.text.tokenizer import SubtokenTokenizer
from training.samples import DTYPES, Pair, Samples, SampleWriter, samples_of

_FACTS = "facts.json"


def kept_samples(
    folder: Path,
    decided_by: object,
    pairs: Iterable[Pair],
    tokenizer: SubtokenTokenizer,
    limits: tuple[int, int],
) -> Samples:
    """Map the samples that belong to `decided_by`, any JSON value; if there are none, make them first.

    Args:
        folder: where samples are kept.
        decided_by: what decides the samples in addition to `limits`.
        pairs: are only read if there are no samples.
        tokenizer: of the run.
        limits: the most tokens of a query and of a document.
    """
    key = hashlib.sha256(json.dumps([decided_by, limits, [*DTYPES]], sort_keys=True).encode()).hexdigest()[
        :16
    ]
    kept = folder / key
    if not kept.exists():
        with scratch_folder(folder.parent) as scratch:
            part = scratch / key
            part.mkdir()
            with ExitStack() as stack:
                writer = SampleWriter(
                    lambda name: stack.enter_context((part / f"{name}.bin").open("wb")), tokenizer, *limits
                )
                for pair in pairs:
                    writer.add(pair)
            (part / _FACTS).write_text(json.dumps(writer.facts()), "utf-8")
            folder.mkdir(exist_ok=True)
            with suppress(OSError):  # Another run has made the same samples.
                part.rename(kept)
    arrays = {name: _mapped(kept / f"{name}.bin", dtype) for name, dtype in DTYPES.items()}
    return samples_of(arrays, json.loads((kept / _FACTS).read_text("utf-8")))


def _mapped(path: Path, dtype: type[np.generic]) -> np.ndarray:
    """Map an array; an empty file cannot be mapped."""
    return np.memmap(path, dtype, "r") if path.stat().st_size else np.zeros(0, dtype)
