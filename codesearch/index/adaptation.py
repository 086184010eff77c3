"""What an index learned from its own documentation: a linear map of query vectors, kept beside its manifest.

adaptation.npz    map float32 [D, D], model, pairs, mrr_before, mrr_after, created

It belongs to the index and not to a generation: updates keep it, another model makes it void.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexCorruptError

FILE = "adaptation.npz"


@dataclass(frozen=True, slots=True)
class Adaptation:
    """A map of query vectors and what it was measured to be worth.

    Attributes:
        matrix: float32 [D, D]; a query vector is multiplied by it from the left, and made a unit vector again.
        model: id of the model whose vectors it maps.
        pairs: documented functions that it was learned from.
        mrr_before: on those held out, without it.
        mrr_after: with it.
        created: when, in ISO 8601.
    """

    matrix: NDArray[np.float32]
    model: str
    pairs: int
    mrr_before: float
    mrr_after: float
    created: str

    def apply(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Map unit vectors to unit vectors: float32 [..., D]."""
        return map_vectors(self.matrix, vectors)


def map_vectors(matrix: NDArray[np.float32], vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Multiply unit vectors by a matrix and make them unit vectors again: float32 [..., D]."""
    mapped = vectors @ matrix
    length = np.linalg.norm(mapped, axis=-1, keepdims=True)
    return np.asarray(mapped / np.maximum(length, 1e-9), dtype=np.float32)


def save_adaptation(index_folder: Path, adaptation: Adaptation) -> None:
    """Write an adaptation in place of the last: whoever reads sees the old or the new."""
    temporary = index_folder / f"{FILE}.new"
    with open(temporary, "wb") as file:
        np.savez(
            file,
            map=adaptation.matrix,
            model=adaptation.model,
            pairs=adaptation.pairs,
            mrr_before=adaptation.mrr_before,
            mrr_after=adaptation.mrr_after,
            created=adaptation.created,
        )
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, index_folder / FILE)


def load_adaptation(index_folder: Path, model: str, root: str) -> Adaptation | None:
    """Read the adaptation of an index, or None where there is none for its model.

    Raises:
        IndexCorruptError: it cannot be read.
    """
    path = index_folder / FILE
    if not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as fields:
            found = Adaptation(
                matrix=np.asarray(fields["map"], dtype=np.float32),
                model=str(fields["model"]),
                pairs=int(fields["pairs"]),
                mrr_before=float(fields["mrr_before"]),
                mrr_after=float(fields["mrr_after"]),
                created=str(fields["created"]),
            )
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise IndexCorruptError(path, f"cannot be read ({error})", root) from None
    return found if found.model == model else None


def remove_adaptation(index_folder: Path) -> bool:
    """Forget the adaptation of an index; say whether there was one."""
    path = index_folder / FILE
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there
