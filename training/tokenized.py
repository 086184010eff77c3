"""Samples stored under a hash of their inputs, so runs with the same vocabulary tokenize a corpus only once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from codesearch.files import atomic_writer
from training.samples import Packed, Samples


def kept_samples(folder: Path, decided_by: object, make: Callable[[], Samples]) -> Samples:
    """Read the samples that belong to `decided_by`, any JSON value; if there are none, make and store them."""
    key = hashlib.sha256(json.dumps(decided_by, sort_keys=True).encode()).hexdigest()[:16]
    path = folder / f"{key}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(make(), path)
    return _read(path)


def _write(samples: Samples, path: Path) -> None:
    with atomic_writer(path) as file:
        np.savez(
            file,
            query_ids=samples.queries.ids,
            query_starts=samples.queries.starts,
            document_ids=samples.documents.ids,
            document_starts=samples.documents.starts,
            languages=samples.languages,
            language_names=np.array(samples.language_names),
        )


def _read(path: Path) -> Samples:
    with np.load(path) as kept:
        queries = Packed(kept["query_ids"], kept["query_starts"])
        documents = Packed(kept["document_ids"], kept["document_starts"])
        return Samples(queries, documents, kept["languages"], tuple(kept["language_names"].tolist()))
