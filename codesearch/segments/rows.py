"""Small numbers of each document. Filters, penalties and copies read them without the store.

rows/kinds.npy   uint8   [N] position in `codesearch.types.KINDS`
rows/files.npy   uint32  [N] file_id in the store
rows/flags.npy   uint8   [N] `Document.flags`
rows/copies.npy  int64   [N] `Document.copy_key`
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.segments.arrays import load_array, save_array
from codesearch.segments.store import DocumentRow
from codesearch.types import KINDS

ROWS = "rows"


class RowWriter:
    """Collects the numbers in doc_id order."""

    def __init__(self) -> None:
        self._kinds, self._files, self._flags = bytearray(), array("I"), bytearray()
        self._copies = array("q")

    def add(self, file_id: int, rows: Sequence[DocumentRow]) -> None:
        """Add a file's documents."""
        self._kinds.extend(KINDS.index(row.kind) for row in rows)
        self._files.extend(repeat(file_id, len(rows)))
        self._flags.extend(row.flags for row in rows)
        self._copies.extend(row.copy_key for row in rows)

    def write(self, segment: Path) -> None:
        """Write `rows/` to a segment's folder."""
        folder = segment / ROWS
        folder.mkdir()
        save_array(folder / "kinds.npy", np.asarray(self._kinds, dtype=np.uint8))
        save_array(folder / "files.npy", np.asarray(self._files, dtype=np.uint32))
        save_array(folder / "flags.npy", np.asarray(self._flags, dtype=np.uint8))
        save_array(folder / "copies.npy", np.asarray(self._copies, dtype=np.int64))


class RowReader:
    """Maps the numbers of a segment."""

    def __init__(self, segment: Path, root: str) -> None:
        self.kinds: NDArray[np.uint8] = load_array(segment / ROWS / "kinds.npy", root)
        self.files: NDArray[np.uint32] = load_array(segment / ROWS / "files.npy", root)
        self.flags: NDArray[np.uint8] = load_array(segment / ROWS / "flags.npy", root)
        self.copies: NDArray[np.int64] = load_array(segment / ROWS / "copies.npy", root)
