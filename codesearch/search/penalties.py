"""Penalties for documents that match the words of a query but are rarely the answer.

Tests, generated code, vendored code and stubs contain the same words as the code that people look for. The penalty does
not apply if the query asks for such code, as in "test for the parser". Constants, type aliases, top-level statements,
configuration and documentation also have a penalty, because most queries ask for a function or a class.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.parsing.identifiers import subtokens
from codesearch.search.fusion import Ranking
from codesearch.types import GENERATED, KINDS, STUB, TEST, TEST_WORDS, VENDORED


@dataclass(frozen=True, slots=True)
class Penalty:
    """A reason to rank lower.

    Attributes:
        signal: the name of the signal; `RankConfig.<signal>_penalty` is the weight.
        flag: the bit of `Document.flags` that marks these documents.
        asked_by: a query with one of these words asks for such documents.
    """

    signal: str
    flag: int
    asked_by: frozenset[str]


PENALTIES = (
    Penalty("test", TEST, TEST_WORDS),
    Penalty("generated", GENERATED, frozenset({"generated", "protobuf", "pb2"})),
    Penalty("vendored", VENDORED, frozenset({"vendor", "vendored"})),
    Penalty("stub", STUB, frozenset({"stub", "stubs", "abstract", "interface"})),
)

_DATA = {"type": 0.5, "constant": 0.5, "module": 1.0, "setting": 0.5}
_DATA_SHARES = np.array([_DATA.get(kind, 0.0) for kind in KINDS], dtype=np.float32)
"""The share of `RankConfig.data_penalty` for each kind. A module has many unrelated words, so its share is 1."""
_ASKS_FOR_DATA = frozenset(
    "alias aliases config configuration const constant constants default defaults enum list module modules option "
    "options script setting settings table tables type typedef types variable variables".split()
)
_SECTION = KINDS.index("section")
_QUESTION = re.compile(r"\s*(?:why|what|when|which|who|how(?!\s+to\b))\b", re.IGNORECASE)
"""A question that documentation answers. "how to" asks for code, and "where" asks for a place in the code."""
_ASKS_FOR_DOCS = frozenset("changelog docs documentation explain faq guide manual readme tutorial".split())


def add_penalties(query: str, ranking: Ranking, head: NDArray[np.intp], config: RankConfig) -> None:
    """Apply the penalties to the documents in `head`, unless the query asks for such code.

    Args:
        query: the query in words.
        ranking: the ranking to change.
        head: positions of the best candidates.
        config: weights.
    """
    words = set(subtokens(query))
    doc_ids = ranking.doc_ids[head]
    flags, kinds = ranking.snapshot.flags(doc_ids), ranking.snapshot.kinds(doc_ids)
    for penalty in PENALTIES:
        if (weight := config.penalty(penalty.signal)) and penalty.asked_by.isdisjoint(words):
            lowered = (flags & penalty.flag != 0).astype(np.float32)
            ranking.add_signal(penalty.signal, head, -lowered, penalty=weight)
    if config.data_penalty and _ASKS_FOR_DATA.isdisjoint(words):
        ranking.add_signal("data", head, -_DATA_SHARES[kinds], penalty=config.data_penalty)
    sections = kinds == _SECTION
    if sections.any() and _ASKS_FOR_DOCS.isdisjoint(words) and not _QUESTION.match(query):
        ranking.add_signal("section", head, -sections.astype(np.float32), penalty=config.section_penalty)
