"""Filters -> the documents that may be hits.

They apply before ranking, so that ten hits are ten, if ten exist.
"""

from __future__ import annotations

import re
from fnmatch import translate

import numpy as np
from numpy.typing import NDArray

from codesearch.index.snapshot import Snapshot
from codesearch.search.request import Filters
from codesearch.segments.reader import SegmentReader
from codesearch.types import KINDS


def allowed_documents(filters: Filters, snapshot: Snapshot) -> NDArray[np.bool_] | None:
    """Return which documents pass: bool [size], or None when all do."""
    if filters == Filters():
        return None
    parts = [_allowed(filters, segment) for segment in snapshot.segments]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def _allowed(filters: Filters, index: SegmentReader) -> NDArray[np.bool_]:
    allowed: NDArray[np.bool_] | None = None
    if filters.languages or filters.paths:
        files = np.ones(len(index.files), dtype=bool)
        if filters.languages:
            files = np.isin([file.language for file in index.files], filters.languages)
        if filters.paths:
            patterns = [_compile(pattern) for pattern in filters.paths]
            matching = (any(pattern.match(f"/{file.path}") for pattern in patterns) for file in index.files)
            files &= np.fromiter(matching, dtype=bool, count=len(files))
        allowed = files[index.rows.files] if len(files) else np.zeros(0, dtype=bool)
    if filters.kinds:
        numbers = [KINDS.index(kind) for kind in filters.kinds]
        of_kind = np.isin(index.rows.kinds, numbers)
        allowed = of_kind if allowed is None else allowed & of_kind
    return np.ones(len(index), bool) if allowed is None else allowed


def _compile(pattern: str) -> re.Pattern[str]:
    """Compile a user's pattern for "/" + path; what it names may also be a folder above."""
    pattern = pattern.removeprefix("./")
    bare = pattern.rstrip("/")
    if "/" not in bare:
        bare = f"*/{bare}"
    elif not bare.startswith("*"):
        bare = f"/{bare.lstrip('/')}"
    below = translate(f"{bare}/*")
    return re.compile(below if pattern.endswith("/") else f"{translate(bare)}|{below}")
