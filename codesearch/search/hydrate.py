"""A ranking -> its places, with all copies of a document in the place of the best one -> hits with all their fields.

A copy whose name or path is the query is shown first. Otherwise the copy comes from ordinary source files: build
output, vendored code, tests and generated code are shown only if there is no other copy. Among equal copies, the one
that ranks first is shown. Score and signals are those of the best copy.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from codesearch.search.fusion import Ranked, Ranking
from codesearch.store.source import Ref
from codesearch.store.topk import equal_before
from codesearch.types import MAX_COPIES, OF_FILE, Hit

if TYPE_CHECKING:
    from codesearch.search.documents import Documents


def places_with_copies(ranking: Ranking, count: int, left_out: Collection[int] = ()) -> list[Ranked]:
    """Return the first `count` places, best first; no two of them are copies of each other."""
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
    flags = ranking.snapshot.flags(doc_ids) & OF_FILE
    name, path = (-ranking.signals[signal][positions] for signal in ("name", "path"))
    shown, *others = doc_ids[np.lexsort((flags, name, path))].tolist()
    return replace(best, doc_id=shown, copies=tuple(others))


def hydrate(snapshot: Documents, ranked: Sequence[Ranked], context: int = 0) -> list[Hit]:
    """Return the hits of ranked documents in the same order, each with `context` lines around its code.

    Documents whose code is gone are skipped; a copy takes the place if there is one.
    """
    found = _read(snapshot, [one for place in ranked for one in (place, *place.others)], context)
    hits: list[Hit] = []
    for place in ranked:
        best, *others = islice(found, 1 + len(place.others))
        if best:
            # A copy that took the place of the best definition is in another file.
            of_file = [
                other for other in others if other and (other.root, other.path) == (best.root, best.path)
            ]
            numbered = tuple(replace(other, rank=rank) for rank, other in enumerate(of_file, 2))
            hits.append(replace(best, rank=len(hits) + 1, others=numbered))
    return hits


def _read(snapshot: Documents, places: Sequence[Ranked], context: int) -> Iterator[Hit | None]:
    """Yield the hit of each place, with rank 0; None if its code is gone."""
    members = [(place.doc_id, *place.copies[:MAX_COPIES]) for place in places]
    refs = iter(snapshot.refs([doc_id for ids in members for doc_id in ids]))
    for place, ids in zip(places, members, strict=True):
        left = deque(islice(refs, len(ids)))
        hit = None
        while left and hit is None:
            shown = left.popleft()
            if excerpt := shown.code(context):
                copies = tuple(_location(copy, shown.root) for copy in left)
                hit = Hit(
                    *astuple(shown.definition),
                    root=shown.root,
                    code=excerpt.code,
                    stale=excerpt.stale,
                    rank=0,
                    score=place.score,
                    signals=place.signals,
                    parts=place.parts,
                    before=excerpt.before,
                    after=excerpt.after,
                    copies=copies,
                    copy_count=len(copies) + len(place.copies) + 1 - len(ids),
                )
        yield hit


def _location(copy: Ref, root: str) -> str:
    """Return "path:line" of a document, relative to `root` if the document is in it."""
    return copy.place if copy.root == root else os.path.join(copy.root, copy.place)
