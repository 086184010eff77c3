"""A second look at the head of a ranking: the direction of conversions, then penalties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.search.conversion import Conversion, parse_conversion
from codesearch.search.direction import agreement
from codesearch.search.fusion import Ranking
from codesearch.search.hydrate import stored_documents
from codesearch.search.penalties import add_penalties


def rerank(query: str, ranking: Ranking, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Adjust the scores of the first `rerank_count` candidates.

    Where the query asks for a conversion, a document that converts that way gains a little and one that converts the
    other way loses.
    """
    head = ranking.order()[: config.rerank_count]
    if conversion := parse_conversion(query):
        _add_direction(conversion, ranking, head, indexes, config)
    add_penalties(query, ranking, head, indexes, config)


def _add_direction(
    conversion: Conversion,
    ranking: Ranking,
    head: NDArray[np.intp],
    indexes: Sequence[IndexReader],
    config: RankConfig,
) -> None:
    places = list(zip(ranking.indexes[head].tolist(), ranking.doc_ids[head].tolist(), strict=True))
    agreements = [
        agreement(conversion, row.name, row.signature, row.docstring)
        for _, row in stored_documents(indexes, places)
    ]
    ranking.add_signal(
        "direction", head, agreements, reward=config.direction_reward, penalty=config.direction_penalty
    )
