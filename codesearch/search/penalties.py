"""Penalties for documents that match the words of a query but are rarely the answer.

Tests, generated code, vendored code and stubs contain the same words as the code that people look for. The penalty does
not apply if the query asks for such code, as in "test for the parser". Classes, constants, type aliases, top-level
statements, configuration and documentation also have a penalty, because most queries ask for a function. If a query is
exactly a name, the reward for names is larger.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.parsing.identifiers import subtokens
from codesearch.search.fusion import Ranking
from codesearch.types import GENERATED, HEADER_KINDS, KINDS, STUB, TEST, TEST_WORDS, VENDORED


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

_DATA = {"module": 1.0, "type": 0.5, "constant": 0.5, "setting": 0.5, **dict.fromkeys(HEADER_KINDS, 0.5)}
_DATA_SHARES = np.array([_DATA.get(kind, 0.0) for kind in KINDS], dtype=np.float32)
"""The share of `RankConfig.data_penalty` for each kind. A module has many unrelated words, so its share is 1."""
_FEW_WORDS = 2
_SHARES_OF_FEW_WORDS = np.array(
    [0.0 if kind in HEADER_KINDS else share for kind, share in zip(KINDS, _DATA_SHARES, strict=True)],
    dtype=np.float32,
)
"""The shares for one or two words, which are often a part of the name of a class."""
_ASKS_FOR_DATA = frozenset(
    "alias aliases class classes config configuration const constant constants default defaults enum enums interface "
    "interfaces list module modules option options script setting settings struct structs table tables trait traits "
    "type typedef types variable variables".split()
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
        shares = _DATA_SHARES if len(words) > _FEW_WORDS else _SHARES_OF_FEW_WORDS
        ranking.add_signal("data", head, -shares[kinds], penalty=config.data_penalty)
    sections = kinds == _SECTION
    if sections.any() and _ASKS_FOR_DOCS.isdisjoint(words) and not _QUESTION.match(query):
        ranking.add_signal("section", head, -sections.astype(np.float32), penalty=config.section_penalty)
