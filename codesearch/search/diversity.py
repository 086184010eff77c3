"""File diversity: a document ranks a little lower for each document of its file above it.

Functions of one file share many words, so they rank close together. The penalty makes room for other files. The order
within a file stays the same.
"""

from __future__ import annotations

import numpy as np

from codesearch.config import RankConfig
from codesearch.search.fusion import Ranking
from codesearch.segments.topk import equal_before

SIGNAL = "file_diversity"
_MOST = 4
"""The penalty stops growing at this many documents above."""


def diversify_files(ranking: Ranking, config: RankConfig) -> None:
    """Subtract `file_diversity_penalty` for each document of the same file above a candidate, up to `_MOST`."""
    if not config.file_diversity_penalty:
        return
    order = ranking.order()
    files = ranking.snapshot.file_numbers(ranking.doc_ids)
    above = np.minimum(equal_before(files[order]), _MOST)
    ranking.add_signal(SIGNAL, order, -above / _MOST, penalty=_MOST * config.file_diversity_penalty)
