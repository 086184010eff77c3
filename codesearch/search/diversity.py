"""File diversity: a document ranks a little lower for each document of its file above it.

Functions of one file share their words, so where one answers, its neighbours follow. The order inside a file stays the
same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.fusion import Ranking
from codesearch.segments.topk import starts_of_runs

SIGNAL = "file_diversity"
_MOST = 4
"""More documents above than this count as this many."""


def diversify_files(ranking: Ranking, config: RankConfig) -> None:
    """Lower each candidate by `file_diversity_penalty` for each of its file above it, up to `_MOST`."""
    if not config.file_diversity_penalty:
        return
    order = ranking.order()
    files = ranking.snapshot.file_numbers(ranking.doc_ids)
    above = np.minimum(_equal_before(files[order]), _MOST)
    ranking.add_signal(SIGNAL, order, -above / _MOST, penalty=_MOST * config.file_diversity_penalty)


def _equal_before(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count for each element the equal ones before it: int64 [N].

    >>> _equal_before(np.array([7, 3, 7, 7, 3]))
    array([0, 0, 1, 2, 1])
    """
    by_value = values.argsort(kind="stable")
    starts_run = starts_of_runs(values[by_value])
    starts = np.flatnonzero(starts_run)
    before = np.empty(len(values), dtype=np.int64)
    before[by_value] = np.arange(len(values)) - starts[np.cumsum(starts_run) - 1]
    return before
