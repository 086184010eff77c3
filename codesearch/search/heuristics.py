"""What changes the scores after fusion. Which code ranks lower or higher, and which words ask for it, is decided here.

- **Direction.** If a query asks for a conversion, documents that convert in the same direction get a reward, and those
  of the opposite direction a penalty (see `direction`).
- **Penalties.** Tests, generated code, vendored code and stubs contain the same words as the code that people look for.
  A definition inside of a function shares its words with that function, and both would take a place.
  Classes, constants, type aliases, top-level statements, configuration and documentation rank lower too, because most
  queries ask for a function. A penalty does not apply if the query asks for such code, as in "test for the parser".
- **Prominence.** `json.load` ranks above a helper with the same words, because it is public and much used.
- **File diversity.** Functions of one file share many words, so they rank close together. A document ranks a little
  lower for each document of its file above it, which makes room for other files. The order within a file stays the
  same.
- **Names.** Documents whose name or path is the query, that contain it literally or that it describes, come first.

The signals of prominence depend on the query. A reward for all that is public or popular would hide code that is
neither, and most queries to a project that one knows ask for such code.

    summary  = share of the query's terms in the first sentence of its documentation
    uses     = log(1 + other files that use it / files that define it) / log(100), at most 1
    verbatim = 1 if the query is the first sentence, except of what a penalty lowers
    opposite = -1 if the name does the opposite of what the query asks for
    aside    = -1 for examples, benchmarks and migrations, unless the query asks for them
    extra    = -1/4 for each term of the name that the query lacks, at most 4

A file uses what it has the name of; if that is one word, such as `load`, it has the name of the class, file or package
around it too. In a pool of small projects, files have the same names by chance. There, other files use few of the
candidates' names of several words, and `uses` counts less.

`summary` and `uses` are 0 for what is not public or is lowered by a penalty. A long query says more precisely what it
wants, so these two and `extra` count less for it: they are multiplied by (3.5 / number of its terms)^6, at most 1.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from codesearch.config import RankConfig
from codesearch.languages import record_of
from codesearch.parsing.docstrings import first_sentence
from codesearch.parsing.identifiers import split_identifier, subtokens
from codesearch.search.direction import Opposition, agreement, canonical_terms, opposition, parse_conversion
from codesearch.search.forms import split_name
from codesearch.search.ranking import AnalysedQuery, Ranking
from codesearch.store.sorting import equal_before
from codesearch.text.terms import STOP_WORDS, base_form, terms_of, terms_of_each
from codesearch.types import (
    FOLDER_FILES,
    GENERATED,
    HEADER_KINDS,
    KINDS,
    NESTED,
    OTHER_SPELLING,
    STUB,
    TEST,
    TEST_WORDS,
    TEXT_KINDS,
    VENDORED,
)


class _Penalty(NamedTuple):
    """A reason to rank lower."""

    signal: str  # The name of the signal; `RankConfig.<signal>_penalty` is the weight.
    flag: int  # The bit of `Document.flags` that marks these documents.
    asked_by: frozenset[str]  # A query with one of these words asks for such documents.


_PENALTIES = (
    _Penalty("test", TEST, TEST_WORDS),
    _Penalty("generated", GENERATED, frozenset({"generated", "protobuf", "pb2"})),
    _Penalty("vendored", VENDORED, frozenset({"vendor", "vendored"})),
    _Penalty("stub", STUB, frozenset({"stub", "stubs", "abstract", "interface"})),
    _Penalty("nested", NESTED, frozenset({"closure", "inner", "nested"})),
)
_ASIDE = TEST | GENERATED | VENDORED
_LOWERED = _ASIDE | STUB | NESTED
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
_SECTION, _METHOD = KINDS.index("section"), KINDS.index("method")
_QUESTION = re.compile(r"\s*(?:why|what|when|which|who|how(?!\s+to\b))\b", re.IGNORECASE)
"""A question that documentation answers. "how to" asks for code, and "where" asks for a place in the code."""
_ASKS_FOR_DOCS = frozenset("changelog docs documentation explain faq guide manual readme tutorial".split())
_MOST_ABOVE = 4
"""The penalty of file diversity stops growing at this many documents above."""
_ABOVE = 0.001
"""The minimum score difference between a document that the query names and any other document."""

_SHOWN, _PROMINENT, _DOCUMENTS_EACH = 20, 60, 3_000
"""Prominence reads the first candidates, and of the first 60, or one of so many documents, what it could lift there."""
_REMEMBERED = 4096
_SENTENCE, _VERBATIM = 3, 0.8
"""A query of so many terms is a first sentence if they share this much of all their terms."""
_MUCH_USED, _SHORT, _MOST_EXTRA = log(100), 3.5, 4
_UNRELATED, _RELATED = 0.3, 0.4
"""If this share of long names is used in other files, the files are a pool of many projects, or surely one."""
_INSIDE = re.compile(r"(?:^|/)(?:_[^/]+|internal|private|priv|impl|details?)/", re.IGNORECASE)
"""A folder of what only the project uses."""
_UNUSED = re.compile(r"(?:^|/)(?:demo|example|sample|bench|benchmark|migration|tutorial)s?/", re.IGNORECASE)
"""A folder of what nothing uses."""
_ASKS_FOR_UNUSED = frozenset(map(base_form, "demo example sample benchmark migration tutorial".split()))
_HIDDEN = re.compile(
    r"""(?:^|[.:/#\\])[_\#~]                                             # a private name, also around it; a destructor
    | \x20                                                             # a callback
    | (?:^|[.:\\])(?:internal|private|priv|impl|details?)[.:\\]          # a namespace of what only the project uses""",
    re.IGNORECASE | re.VERBOSE,
)
"""Qualified names of what is not public."""


def adjust(query: AnalysedQuery, ranking: Ranking, config: RankConfig) -> None:
    """Adjust the scores of a ranking; all but file diversity and names only those of the first `heuristics_count`."""
    head = ranking.order()[: config.heuristics_count]
    conversion = parse_conversion(query.text)
    if conversion:
        rows = [ref.row for ref in ranking.documents.refs(ranking.doc_ids[head].tolist())]
        agreements = [agreement(conversion, row.name, row.signature) for row in rows]
        reward, penalty = config.direction_reward, config.direction_penalty
        ranking.add_signal("direction", head, agreements, reward=reward, penalty=penalty)
    _add_penalties(query.text, ranking, head, config)
    if query.text and query.terms:
        verbs = None if conversion else opposition(query.text)
        _add_prominence(query, ranking, verbs, config)
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
    flags, kinds = ranking.rows["flags"][head], ranking.rows["kind"][head]
    for signal, flag, asked_by in _PENALTIES:
        marked = (flags & flag != 0).astype(np.float32)
        if not (weight := config.penalty(signal)):
            continue
        if asked_by.isdisjoint(words):
            ranking.add_signal(signal, head, -marked, penalty=weight)
        elif flag == TEST and _WANTS_TESTS.search(query):
            ranking.add_signal(signal, head, marked, reward=_TEST_REWARD * weight)
    if config.data_penalty and _ASKS_FOR_DATA.isdisjoint(words):
        ranking.add_signal("data", head, -_DATA_SHARES[kinds], penalty=config.data_penalty)
    sections = kinds == _SECTION
    if sections.any() and _ASKS_FOR_DOCS.isdisjoint(words) and not _QUESTION.match(query):
        ranking.add_signal("section", head, -sections.astype(np.float32), penalty=config.section_penalty)


def _add_prominence(
    query: AnalysedQuery, ranking: Ranking, verbs: Opposition | None, config: RankConfig
) -> None:
    """Add what the name, the documentation, the folder and the usages of the best candidates say about them."""
    terms = query.terms
    share, asks_aside = min(1, _SHORT / len(terms)) ** 6, not _ASKS_FOR_UNUSED.isdisjoint(terms)
    most = max(_PROMINENT, ranking.documents.document_count // _DOCUMENTS_EACH)
    head = ranking.order()[: min(most, config.heuristics_count)]
    reach = ranking.scores[head] + np.float32(share * (config.summary_weight + config.uses_weight))
    head = head[reach >= ranking.scores[head[:_SHOWN]].min(initial=np.inf)]
    summary, uses, opposite, verbatim, aside, extra = np.zeros((6, len(head)))
    refs = ranking.documents.refs(ranking.doc_ids[head].tolist())
    names = [ref.row.name for ref in refs]
    public: dict[int, tuple[str, str]] = {}  # Position -> name, and the word around it that a use has too.
    for at, (ref, name_terms) in enumerate(zip(refs, terms_of_each(names), strict=True)):
        row, file = ref.row, ref.file
        if verbs:
            words = set(canonical_terms(row.name))
            opposite[at] = -float(words.isdisjoint(verbs[0]) and not words.isdisjoint(verbs[1]))
        aside[at] = -float(not asks_aside and _UNUSED.search(file.path) is not None)
        extra[at] = -min(len(name_terms.difference(terms)), _MOST_EXTRA) / _MOST_EXTRA
        if row.flags & _LOWERED:
            continue
        sentence = _summary_terms(row.docstring)
        shared = len(sentence.intersection(terms))
        is_sentence = shared >= _VERBATIM * len(sentence.union(terms) - STOP_WORDS)
        verbatim[at] = is_sentence and len(terms) >= _SENTENCE
        if row.kind not in TEXT_KINDS and _is_public(
            file.path, file.language, row.qualified_name, row.signature
        ):
            summary[at] = shared / len(terms)
            place = _place_of(file.path, file.language, row.qualified_name)
            public[at] = row.name, place
    using, defining = ranking.documents.name_counts(list(public.values())).T
    elsewhere = using - defining
    used = elsewhere[[not place for _, place in public.values()]] > 0
    of_project = (float(used.mean()) - _UNRELATED) / (_RELATED - _UNRELATED) if len(used) else 1.0
    uses[list(public)] = min(1.0, max(0.0, of_project)) * np.log1p(elsewhere / defining.clip(1)) / _MUCH_USED
    ranking.add_signal("summary", head, summary * share, reward=config.summary_weight)
    ranking.add_signal("uses", head, uses.clip(max=1) * share, reward=config.uses_weight)
    ranking.add_signal("verbatim", head, verbatim)
    ranking.add_signal("opposite", head, opposite, penalty=config.opposite_penalty)
    ranking.add_signal("aside", head, aside, penalty=config.aside_penalty)
    ranking.add_signal("extra", head, extra * share, penalty=config.extra_penalty)


@lru_cache(_REMEMBERED)
def _is_public(path: str, language: str, qualified_name: str, signature: str) -> bool:
    """Say whether code outside of its project may use a definition, as far as its path, name and signature say it."""
    if _INSIDE.search(path) or _UNUSED.search(path) or _HIDDEN.search(qualified_name):
        return False
    # A function of a header is there for others, also a static one.
    return path.endswith((".h", ".hpp")) or re.match(record_of(language).public, signature) is not None


@lru_cache(_REMEMBERED)
def _place_of(path: str, language: str, qualified_name: str) -> str:
    """Return the word that a file also has if it uses a definition: the class, file or package that it is in.

    A name of several words is rare enough without.
    """
    *around, name = split_name(qualified_name)
    if len(split_identifier(name)) > 1:
        return ""
    if around:
        return around[-1]
    file = PurePosixPath(path)
    is_folder = record_of(language).is_packaged or file.stem in FOLDER_FILES
    return file.parent.name if is_folder else file.stem.partition(".")[0]


@lru_cache(_REMEMBERED)
def _summary_terms(docstring: str) -> frozenset[str]:
    return frozenset(terms_of(first_sentence(docstring)))


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
