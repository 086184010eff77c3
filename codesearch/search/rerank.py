"""A second look at the head of a ranking, with what only the stored documents tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.parsing.identifiers import subtokens
from codesearch.search.conversion import parse_conversion
from codesearch.search.direction import agreement
from codesearch.search.fusion import Pool
from codesearch.search.hydrate import stored_documents
from codesearch.search.quality import REASONS, reasons_for


def rerank(query: str, pool: Pool, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Adjust the scores of the head of a ranking.

    Where the query asks for a conversion, what goes that way is raised a little and what goes the other way is
    lowered. What has a reason to rank lower does so (see `quality`), unless the query asks for such code.
    """
    head = pool.order()[: config.rerank_count]
    if conversion := parse_conversion(query):
        places = list(zip(pool.indexes[head].tolist(), pool.doc_ids[head].tolist(), strict=True))
        ways = [
            agreement(conversion, name, signature, docstring)
            for _, (_, name, _, signature, docstring, *_) in stored_documents(indexes, places)
        ]
        pool.add_signal(
            "direction", head, ways, reward=config.direction_reward, penalty=config.direction_penalty
        )
    words = set(subtokens(query))
    described = _described(pool, head, indexes)
    holds = np.array([reasons_for(*document) for document in described]).reshape(-1, len(REASONS))
    for reason, lowered in zip(REASONS, holds.T, strict=True):
        if (penalty := config.penalty(reason.name)) and reason.asked_by.isdisjoint(words):
            pool.add_signal(reason.name, head, -lowered.astype(np.float32), penalty=penalty)


def _described(
    pool: Pool, positions: NDArray[np.intp], indexes: Sequence[IndexReader]
) -> list[tuple[str, int]]:
    """Return the path and the flags of candidates, without reading the documents themselves."""
    found = [("", 0)] * len(positions)
    for number, index in enumerate(indexes):
        places = np.flatnonzero(pool.indexes[positions] == number)
        doc_ids = pool.doc_ids[positions[places]]
        file_ids = index.rows.files[doc_ids].tolist()
        files = index.store.files_of(set(file_ids))
        for place, file_id, flags in zip(
            places.tolist(), file_ids, index.rows.flags[doc_ids].tolist(), strict=True
        ):
            found[place] = files[file_id].path, flags
    return found
