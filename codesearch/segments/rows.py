"""Small numbers of each document, for filters that apply before ranking and for what lowers a whole head.

rows/kinds.npy   uint8   [N] position in `codesearch.types.KINDS`
rows/files.npy   uint32  [N] file_id in the store
rows/flags.npy   uint8   [N] `Document.flags`
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import IndexCorruptError
from codesearch.types import KINDS

ROWS = "rows"


class RowWriter:
    """Collects the numbers in doc_id order."""

    def __init__(self) -> None:
        self._kinds, self._files, self._flags = bytearray(), array("I"), bytearray()

    def add(self, file_id: int, kinds: Iterable[str], flags: Iterable[int]) -> None:
        """Add a file's documents."""
        before = len(self._kinds)
        self._kinds.extend(KINDS.index(kind) for kind in kinds)
        self._files.extend(repeat(file_id, len(self._kinds) - before))
        self._flags.extend(flags)

    def write(self, segment: Path) -> None:
        """Write `rows/` under a segment's folder."""
        folder = segment / ROWS
        folder.mkdir()
        np.save(folder / "kinds.npy", np.asarray(self._kinds, dtype=np.uint8))
        np.save(folder / "files.npy", np.asarray(self._files, dtype=np.uint32))
        np.save(folder / "flags.npy", np.asarray(self._flags, dtype=np.uint8))


class RowReader:
    """Maps the numbers of a segment."""

    def __init__(self, segment: Path, root: str) -> None:
        self.kinds: NDArray[np.uint8] = load_array(segment / ROWS / "kinds.npy", root)
        self.files: NDArray[np.uint32] = load_array(segment / ROWS / "files.npy", root)
        self.flags: NDArray[np.uint8] = load_array(segment / ROWS / "flags.npy", root)


def load_array(path: Path, root: str) -> NDArray[Any]:
    """Map an array of an index.

    Raises:
        IndexCorruptError: it is missing or no array.
    """
    try:
        # A plain view of the map: each slice of a memmap runs Python, and a query takes hundreds.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise IndexCorruptError(path, str(error), root) from None
