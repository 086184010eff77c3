"""A ranking in which no file crowds the others out.

Functions of one file share their words, so that where one answers, its neighbours come along. A document is lowered for
each of its file that stands above it. The order inside a file stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.index.topk import starts_of_runs
from codesearch.search.fusion import Pool

SIGNAL = "crowding"
_MOST = 4
"""More than so many above count as so many."""


def spread_files(pool: Pool, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Lower each candidate by `crowding_penalty` for each of its file above it, as long as that matters."""
    if not config.crowding_penalty:
        return
    order = pool.order()
    files = pool.indexes << 32  # An index has fewer files than that.
    for number, index in enumerate(indexes):
        found = pool.indexes == number
        files[found] += index.rows.files[pool.doc_ids[found]]
    above = np.minimum(_earlier_of_kind(files[order]), _MOST)
    pool.add_signal(SIGNAL, order, -above / _MOST, penalty=_MOST * config.crowding_penalty)


def _earlier_of_kind(kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count for each element the equal ones before it: int64 [N].

    >>> _earlier_of_kind(np.array([7, 3, 7, 7, 3]))
    array([0, 0, 1, 2, 1])
    """
    by_kind = kinds.argsort(kind="stable")
    starts_run = starts_of_runs(kinds[by_kind])
    starts = np.flatnonzero(starts_run)
    earlier = np.empty(len(kinds), dtype=np.int64)
    earlier[by_kind] = np.arange(len(kinds)) - starts[np.cumsum(starts_run) - 1]
    return earlier
