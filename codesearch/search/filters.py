"""Filters -> the documents that may be hits.

Filters apply before ranking, so a search for ten hits returns ten if ten documents pass.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from codesearch.search.paths import outside, path_filter
from codesearch.search.request import Filters
from codesearch.store.segment import SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.types import KINDS


def allowed_documents(filters: Filters, snapshot: Snapshot) -> NDArray[np.bool_] | None:
    """Return which documents pass: bool [size], or None if all pass.

    If one root lies inside another, the files in both are searched only in the inner one.
    """
    inner = inner_folders(snapshot.roots)
    if filters.within and not any(outside(filters.within, Path(root)) for root in snapshot.roots):
        filters = replace(filters, within=())  # A test of each file would cost milliseconds.
    if filters.allow_all and not any(inner.values()):
        return None
    parts = [_allowed(filters, segment, inner[segment.root]) for segment in snapshot.segments]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=bool)


def _allowed(filters: Filters, segment: SegmentReader, inner: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which documents of a segment pass and are not in an inner root: bool [N]."""
    allowed = np.ones(len(segment), dtype=bool)
    if inner or filters.languages or filters.by_path:
        allowed = passing_files(filters, segment, inner)[segment.rows.files]
    if filters.kinds:
        allowed &= np.isin(segment.rows.kinds, [KINDS.index(kind) for kind in filters.kinds])
    return allowed


def passing_files(filters: Filters, segment: SegmentReader, inner: tuple[str, ...]) -> NDArray[np.bool_]:
    """Return which files of a segment pass, whatever kinds their documents have, and are not in an inner root."""
    files = np.ones(len(segment.files), dtype=bool)
    if filters.languages:
        files = np.isin([file.language for file in segment.files], filters.languages)
    if filters.by_path:
        passes = path_filter(filters, Path(segment.root))
        files &= np.fromiter((passes(file.path) for file in segment.files), dtype=bool, count=len(files))
    if inner:
        files &= np.array([not file.path.startswith(inner) for file in segment.files], dtype=bool)
    return files
