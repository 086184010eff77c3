"""Heuristics after fusion: direction of conversions, penalties, file diversity and names.

- **Direction.** If a query asks for a conversion, documents that convert in the same direction get a reward, and those
  of the opposite direction a penalty (see `direction`).
- **Penalties.** Tests, generated code, vendored code and stubs contain the same words as the code that people look for.
  A definition inside of a function shares its words with that function, and both would take a place.
  Classes, constants, type aliases, top-level statements, configuration and documentation rank lower too, because most
  queries ask for a function. A penalty does not apply if the query asks for such code, as in "test for the parser".
- **File diversity.** Functions of one file share many words, so they rank close together. A document ranks a little
  lower for each document of its file above it, which makes room for other files. The order within a file stays the
  same.
- **Names.** Documents whose name or path is the query, that contain it literally or that it describes, come first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.parsing.identifiers import subtokens
from codesearch.search.direction import agreement, parse_conversion
from codesearch.search.lookup import OTHER_SPELLING
from codesearch.search.prominence import add_prominence
from codesearch.search.ranking import AnalysedQuery, Ranking
from codesearch.store.sorting import equal_before
from codesearch.types import GENERATED, HEADER_KINDS, KINDS, NESTED, STUB, TEST, TEST_WORDS, VENDORED


@dataclass(frozen=True, slots=True)
class Penalty:
    """A reason to rank lower."""

    signal: str  # The name of the signal; `RankConfig.<signal>_penalty` is the weight.
    flag: int  # The bit of `Document.flags` that marks these documents.
    asked_by: frozenset[str]  # A query with one of these words asks for such documents.


PENALTIES = (
    Penalty("test", TEST, TEST_WORDS),
    Penalty("generated", GENERATED, frozenset({"generated", "protobuf", "pb2"})),
    Penalty("vendored", VENDORED, frozenset({"vendor", "vendored"})),
    Penalty("stub", STUB, frozenset({"stub", "stubs", "abstract", "interface"})),
    Penalty("nested", NESTED, frozenset({"closure", "inner", "nested"})),
)

_TEST_REWARD = 2.0
_WANTS_TESTS = re.compile(
    r"^\s*(?:\w+\s+)?tests\b|\btests?\s+(?:cases?\b|for\b|of\b|that\b|which\b|cover)", re.IGNORECASE
)
"""A query that wants tests, not code that tests something: "tests for the tokenizer"."""
_DATA = {"module": 1.0, "type": 0.5, "constant": 0.5, "setting": 0.5, **dict.fromkeys(HEADER_KINDS, 0.5)}
_DATA_SHARES = np.array([_DATA.get(kind, 0.0) for kind in KINDS], dtype=np.float32)
"""The share of `RankConfig.data_penalty` for each kind. A module has many unrelated words, so its share is 1."""
_ASKS_FOR_DATA = frozenset(
    "alias aliases class classes config configuration const constant constants default defaults enum enums interface "
    "interfaces list module modules option options script setting settings struct structs table tables trait traits "
    "type typedef types variable variables".split()
)
_SECTION = KINDS.index("section")
_QUESTION = re.compile(r"\s*(?:why|what|when|which|who|how(?!\s+to\b))\b", re.IGNORECASE)
"""A question that documentation answers. "how to" asks for code, and "where" asks for a place in the code."""
_ASKS_FOR_DOCS = frozenset("changelog docs documentation explain faq guide manual readme tutorial".split())
_MOST_ABOVE = 4
"""The penalty of file diversity stops growing at this many documents above."""
_METHOD = KINDS.index("method")
_ASIDE = TEST | GENERATED | VENDORED
_ABOVE = 0.001
"""The minimum score difference between a document that the query names and any other document."""


def adjust(query: AnalysedQuery, ranking: Ranking, config: RankConfig) -> None:
    """Adjust the scores of a ranking; all but file diversity and names only those of the first `heuristics_count`."""
    head = ranking.order()[: config.heuristics_count]
    if conversion := parse_conversion(query.text):
        rows = [ref.row for ref in ranking.documents.refs(ranking.doc_ids[head].tolist())]
        agreements = [agreement(conversion, row.name, row.signature) for row in rows]
        reward, penalty = config.direction_reward, config.direction_penalty
        ranking.add_signal("direction", head, agreements, reward=reward, penalty=penalty)
    _add_penalties(query.text, ranking, head, config)
    if query.text and query.terms:
        add_prominence(query, ranking, config)
    if query.text and config.file_diversity_penalty:
        order = ranking.order()
        above = np.minimum(equal_before(ranking.rows["file_id"][order]), _MOST_ABOVE) / _MOST_ABOVE
        ranking.add_signal(
            "file_diversity", order, -above, penalty=_MOST_ABOVE * config.file_diversity_penalty
        )
    if config.name_weight:
        put_first(ranking)


def _add_penalties(query: str, ranking: Ranking, head: NDArray[np.intp], config: RankConfig) -> None:
    """Apply the penalties to the documents in `head`, unless the query asks for such code."""
    words = set(subtokens(query))
    wants_tests = _WANTS_TESTS.search(query) is not None
    flags, kinds = ranking.rows["flags"][head], ranking.rows["kind"][head]
    for penalty in PENALTIES:
        if (weight := config.penalty(penalty.signal)) and penalty.asked_by.isdisjoint(words):
            lowered = (flags & penalty.flag != 0).astype(np.float32)
            ranking.add_signal(penalty.signal, head, -lowered, penalty=weight)
        elif weight and penalty.flag == TEST and wants_tests:
            raised = (flags & TEST != 0).astype(np.float32)
            ranking.add_signal(penalty.signal, head, raised, reward=_TEST_REWARD * weight)
    if config.data_penalty and _ASKS_FOR_DATA.isdisjoint(words):
        ranking.add_signal("data", head, -_DATA_SHARES[kinds], penalty=config.data_penalty)
    sections = kinds == _SECTION
    if sections.any() and _ASKS_FOR_DOCS.isdisjoint(words) and not _QUESTION.match(query):
        ranking.add_signal("section", head, -sections.astype(np.float32), penalty=config.section_penalty)


def put_first(ranking: Ranking) -> None:
    """Raise what the query names above all others, in the order of `named_tiers`."""
    tiers = named_tiers(ranking)
    for tier in sorted(set(tiers[tiers > 0].tolist())):  # `np.unique` would import masked arrays.
        of_tier, below = tiers == tier, tiers < tier
        if below.any():
            lift = ranking.scores[below].max() - ranking.scores[of_tier].min() + np.float32(_ABOVE)
            raised = max(np.float32(0), lift) * of_tier
            ranking.parts["name_first"] = ranking.parts.get("name_first", np.float32(0)) + raised
            ranking.scores = ranking.scores + raised


def named_tiers(ranking: Ranking) -> NDArray[np.float32]:
    """Return how directly the query names each candidate, 0 if not at all: float32 [C].

    The documents of a path come first, then exact names, then other spellings, then those with a literal text. Of equal
    names, modules, classes and functions come before methods, and those before tests, generated and vendored code.
    """
    signals = ranking.signals
    names = signals["name"] * (signals["name"] >= OTHER_SPELLING)
    verbatim = signals.get("verbatim", np.zeros_like(names))
    if not (names.any() or verbatim.any() or signals["path"].any() or signals["literal"].any()):
        return names
    method = ranking.rows["kind"] == _METHOD
    aside = ranking.rows["flags"] & _ASIDE != 0
    # An exact name has 1, another spelling .5.
    by_name = (names - np.float32(0.1) * method - np.float32(0.2) * aside) * (names > 0)
    by_text = signals["literal"] * np.where(aside, np.float32(0.05), np.float32(0.1))
    by_text = np.maximum(by_text, verbatim * np.float32(0.04))
    return np.where(signals["path"] > 0, 1 + signals["path"], np.maximum(by_name, by_text))
