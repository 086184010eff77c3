"""A ranking -> its places, with all copies of a document in the place of the best of them.

The copy that is shown is one that the query names, else the source: build output, vendored code, tests and generated
code are shown only if all copies are such. Among equals it is the one that ranks first. Score and signals are those of
the best copy.
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
        left_out: doc_ids that are in no place.
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
