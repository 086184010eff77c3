"""A second look at the head of a ranking, with what only the stored documents tell."""

from __future__ import annotations

from collections.abc import Sequence

from codesearch.config import RankConfig
from codesearch.index.reader import IndexReader
from codesearch.index.store import DocumentRow
from codesearch.search.direction import agreement, parse_conversion
from codesearch.search.fusion import Pool


def rerank_by_direction(query: str, pool: Pool, indexes: Sequence[IndexReader], config: RankConfig) -> None:
    """Where the query asks for a conversion, raise what goes that way a little and lower what goes the other."""
    conversion = parse_conversion(query)
    if conversion is None:
        return
    head = pool.order()[: config.rerank_count]
    rows: dict[tuple[int, int], DocumentRow] = {}
    for number, index in enumerate(indexes):
        doc_ids = pool.doc_ids[head[pool.indexes[head] == number]].tolist()
        rows.update(((number, doc_id), row) for doc_id, (_, row) in index.store.documents(doc_ids).items())
    values = []
    for position in head:
        _, name, _, signature, docstring, *_ = rows[int(pool.indexes[position]), int(pool.doc_ids[position])]
        values.append(agreement(conversion, name, signature, docstring))
    pool.add_signal("direction", head, values, config.direction_reward, config.direction_penalty)
