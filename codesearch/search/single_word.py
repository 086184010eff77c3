"""A query of one word, such as "zip", is often the beginning of a name that the user does not know in full.

Public modules, classes and functions whose names begin with the word rank higher, and private definitions rank lower.
Definitions that have exactly this name come first in any case (`Ranking.put_names_first`).
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.search.forms import name_parts, split_name
from codesearch.search.fusion import Ranking
from codesearch.segments.store import DocumentRow

_PRIVATE_NAME = re.compile(r"#|_(?!_.*__$)")
_PRIVATE = re.compile(r"\s*(?:[@\w]+\s+)*?(?:file)?private\s")


def add_single_word(query: str, ranking: Ranking, head: NDArray[np.intp], config: RankConfig) -> None:
    """Apply the rule to the documents in `head` if the query is one word."""
    parts = name_parts(query)
    if len(parts) != 1:
        return
    rows = [row for _, _, row in ranking.snapshot.stored(ranking.doc_ids[head].tolist())]
    values = [_value(row, parts[0].lower()) for row in rows]
    ranking.add_signal(
        "single_word", head, values, reward=config.single_word_weight, penalty=config.single_word_weight
    )


def _value(row: DocumentRow, word: str) -> float:
    """Return -1 for a private definition, 1 for another one that the word begins, else 0."""
    names = [
        row.name,
        *split_name(row.qualified_name),
    ]  # `#` begins a private name, but it is also a separator.
    if any(map(_PRIVATE_NAME.match, names)) or _PRIVATE.match(row.signature):
        return -1.0
    return float(row.kind != "method" and row.name.lower().startswith(word))
