"""Filters -> the documents that may be hits.

They apply before ranking, so that ten hits are ten, if ten exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.index.reader import IndexReader
from codesearch.search.paths import path_filter
from codesearch.search.request import Filters
from codesearch.types import KINDS


def allowed_documents(filters: Filters, index: IndexReader) -> NDArray[np.bool_] | None:
    """Return which documents pass: bool [N], or None when all do."""
    allowed: NDArray[np.bool_] | None = None
    if filters.languages or filters.paths or filters.within:
        files = np.ones(len(index.files), dtype=bool)
        if filters.languages:
            files = np.isin(index.languages, filters.languages)
        if filters.paths or filters.within:
            passes = path_filter(filters, index.root)
            files &= np.fromiter((passes(file.path) for file in index.files), dtype=bool, count=len(files))
        allowed = files[index.rows.files] if len(files) else np.zeros(0, dtype=bool)
    if filters.kinds:
        numbers = [KINDS.index(kind) for kind in filters.kinds]
        of_kind = np.isin(index.rows.kinds, numbers)
        allowed = of_kind if allowed is None else allowed & of_kind
    return allowed


def documents_outside(folders: Sequence[Path], index: IndexReader) -> NDArray[np.bool_]:
    """Return which documents lie in none of some folders below the root: bool [N]."""
    below = tuple(f"{folder.relative_to(index.root).as_posix()}/" for folder in folders)
    files = np.array([not file.path.startswith(below) for file in index.files], dtype=bool)
    return files[index.rows.files] if len(files) else np.zeros(0, dtype=bool)
