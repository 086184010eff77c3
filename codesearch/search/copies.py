"""A ranking -> its places; all copies of a document share the place of the best one.

A copy whose name is the query is shown first. Otherwise the copy comes from ordinary source files: build output,
vendored code, tests and generated code are shown only if there is no other copy. Among equal copies, the one that ranks
first is shown. Score and signals are those of the best copy.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from codesearch.search.fusion import Ranked, Ranking
from codesearch.segments.topk import equal_before
from codesearch.types import STUB


def places_with_copies(ranking: Ranking, count: int, left_out: Collection[int] = ()) -> list[Ranked]:
    """Return the first `count` places, best first; no two of them are copies of each other.

    Args:
        ranking: all candidates.
        count: how many places.
        left_out: doc_ids to exclude.
    """
    order = ranking.order()
    if left_out:
        order = order[~np.isin(ranking.doc_ids[order], list(left_out))]
    keys = ranking.snapshot.copy_keys(ranking.doc_ids[order])
    firsts = np.flatnonzero(equal_before(keys) == 0)[:count]
    return [_place(ranking, order[keys == key]) for key in keys[firsts]]


def _place(ranking: Ranking, positions: NDArray[np.intp]) -> Ranked:
    best = ranking.place(int(positions[0]))
    if len(positions) == 1:
        return best
    doc_ids = ranking.doc_ids[positions]
    flags = ranking.snapshot.flags(doc_ids) & ~np.uint8(STUB)
    shown, *others = doc_ids[np.lexsort((flags, -ranking.signals["name"][positions]))].tolist()
    return replace(best, doc_id=shown, copies=tuple(others))
