"""Penalties for documents that match the words of a query but are seldom the answer.

Tests, generated and vendored code, and stubs use the words of the code that people look for. A query that asks for
one of them, such as "test for the parser", gets it without the penalty.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.parsing.identifiers import subtokens
from codesearch.search.fusion import Ranking
from codesearch.types import GENERATED, STUB, TEST, TEST_WORDS, VENDORED


@dataclass(frozen=True, slots=True)
class Penalty:
    """A reason to rank lower.

    Attributes:
        signal: its name; `RankConfig.<signal>_penalty` is its weight.
        flag: the bit of `Document.flags` that it applies to.
        asked_by: words of a query that asks for such documents.
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


def add_penalties(query: str, ranking: Ranking, head: NDArray[np.intp], config: RankConfig) -> None:
    """Lower the flagged documents at the head of a ranking, unless the query asks for such code."""
    words = set(subtokens(query))
    flags = ranking.snapshot.flags(ranking.doc_ids[head])
    for penalty in PENALTIES:
        if (weight := config.penalty(penalty.signal)) and penalty.asked_by.isdisjoint(words):
            lowered = (flags & penalty.flag != 0).astype(np.float32)
            ranking.add_signal(penalty.signal, head, -lowered, penalty=weight)
