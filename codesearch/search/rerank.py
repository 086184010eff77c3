"""Rerank the best candidates: by the direction of conversions, by the one word of a query, then by penalties."""

from __future__ import annotations

from codesearch.config import RankConfig
from codesearch.search.conversion import parse_conversion
from codesearch.search.direction import agreement
from codesearch.search.fusion import Ranking
from codesearch.search.penalties import add_penalties
from codesearch.search.single_word import completes, single_word


def rerank(query: str, ranking: Ranking, config: RankConfig) -> None:
    """Adjust the scores of the first `rerank_count` candidates.

    If the query asks for a conversion, documents with the same direction get a reward. Documents with the opposite
    direction get a penalty. A query of one word is compared with the beginnings of names.
    """
    head = ranking.order()[: config.rerank_count]
    conversion, word = parse_conversion(query), single_word(query)
    if conversion or word:
        rows = [row for _, _, row in ranking.snapshot.stored(ranking.doc_ids[head].tolist())]
        if conversion:
            agreements = [agreement(conversion, row.name, row.signature, row.docstring) for row in rows]
            reward, penalty = config.direction_reward, config.direction_penalty
            ranking.add_signal("direction", head, agreements, reward=reward, penalty=penalty)
        if word:
            weight = config.single_word_weight
            values = [completes(word, row) for row in rows]
            ranking.add_signal("single_word", head, values, reward=weight, penalty=weight)
    add_penalties(query, ranking, head, config)
