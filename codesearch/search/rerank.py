"""Rerank the best candidates: by the direction of conversions, by the one word of a query, then by penalties."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.conversion import Conversion, parse_conversion
from codesearch.search.direction import agreement
from codesearch.search.fusion import Ranking
from codesearch.search.penalties import add_penalties
from codesearch.search.single_word import add_single_word


def rerank(query: str, ranking: Ranking, config: RankConfig) -> None:
    """Adjust the scores of the first `rerank_count` candidates.

    If the query asks for a conversion, documents with the same direction get a reward. Documents with the opposite
    direction get a penalty.
    """
    head = ranking.order()[: config.rerank_count]
    if conversion := parse_conversion(query):
        _add_direction(conversion, ranking, head, config)
    add_single_word(query, ranking, head, config)
    add_penalties(query, ranking, head, config)


def _add_direction(
    conversion: Conversion, ranking: Ranking, head: NDArray[np.intp], config: RankConfig
) -> None:
    agreements = [
        agreement(conversion, row.name, row.signature, row.docstring)
        for _, _, row in ranking.snapshot.stored(ranking.doc_ids[head].tolist())
    ]
    ranking.add_signal(
        "direction", head, agreements, reward=config.direction_reward, penalty=config.direction_penalty
    )
