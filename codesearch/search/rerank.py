"""A second look at the head of a ranking, with what only the stored documents tell."""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.parsing.identifiers import subtokens
from codesearch.search.conversion import parse_conversion
from codesearch.search.direction import agreement
from codesearch.search.fusion import Pool
from codesearch.search.hydrate import stored_documents
from codesearch.search.quality import REASONS


def rerank(query: str, pool: Pool, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Adjust the scores of the head of a ranking.

    Where the query asks for a conversion, what goes that way is raised a little and what goes the other way is
    lowered. What has a reason to rank lower does so (see `quality`), unless the query asks for such code.
    """
    head = pool.order()[: config.rerank_count]
    places = zip(pool.indexes[head].tolist(), pool.doc_ids[head].tolist(), strict=True)
    stored = stored_documents(indexes, list(places))
    if conversion := parse_conversion(query):
        ways = []
        for _, (_, name, _, signature, docstring, *_) in stored:
            ways.append(agreement(conversion, name, signature, docstring))
        pool.add_signal(
            "direction", head, ways, reward=config.direction_reward, penalty=config.direction_penalty
        )
    words = set(subtokens(query))
    for reason in REASONS:
        if (penalty := config.penalty(reason.name)) and reason.asked_by.isdisjoint(words):
            lowered = [-float(reason.applies(file.path, flags)) for file, (*_, flags, _) in stored]
            pool.add_signal(reason.name, head, lowered, penalty=penalty)
