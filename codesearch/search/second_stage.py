"""Reorder the best candidates with a cross-encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from codesearch.config import RankConfig
from codesearch.search.fusion import Ranking
from codesearch.search.hydrate import SourceExcerpts

if TYPE_CHECKING:
    from codesearch.encoding.cross_encoder import CrossEncoder

SIGNAL = "cross_encoder"
_LOGITS = 10.0
"""The largest difference between logits that counts."""


def add_second_stage(query: str, ranking: Ranking, cross_encoder: CrossEncoder, config: RankConfig) -> None:
    """Add what a cross-encoder says about the first `second_stage_count` candidates.

    The worst of them gets 0, so none falls below the candidates that were not read. A query that is the name of a
    definition, or code, keeps its order.
    """
    from codesearch.encoding.cross_encoder import candidate_text

    if not query or ranking.signals["name"].any():
        return
    head = ranking.order()[: config.second_stage_count]
    if not len(head):
        return
    excerpts = SourceExcerpts()
    texts = []
    for stored in ranking.snapshot.stored(ranking.doc_ids[head].tolist()):
        _, file, row = stored
        excerpt = excerpts.excerpt(stored)
        code = excerpt.code if excerpt else ""
        texts.append(candidate_text(file.path, row.qualified_name, row.docstring, code))
    logits = cross_encoder.scores(query, texts)
    signal = np.clip((logits - logits.min()) / _LOGITS, 0, 1)
    ranking.add_signal(SIGNAL, head, signal, reward=config.second_stage_weight)
