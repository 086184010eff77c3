"""What of the first candidates is public and much used: `json.load` ranks above a helper with the same words.

Both signals depend on the query. A reward for all that is public or popular would hide code that is neither, and most
queries to a project that one knows ask for such code.

    summary = share of the query's terms in the first sentence of its documentation
    uses    = log(1 + other files that have its name / definitions with the name) / log(100), at most 1

Both are 0 for what is not public. A long query says more precisely what it wants, so both count less for it: they are
multiplied by (3 / number of the query's terms)^3, at most 1.

More signals are for private code too:

    verbatim = 1 if the query is the first sentence, except of what a penalty lowers
    opposite = -1 if the name does the opposite of what the query asks for
    aside    = -1 for examples, benchmarks and migrations, unless the query asks for them
    extra    = -1/4 for each term of the name that the query lacks, at most 4, * what `uses` is multiplied by
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import log, log1p

import numpy as np

from codesearch.config import RankConfig
from codesearch.languages import record_of
from codesearch.parsing.docstrings import first_sentence
from codesearch.search.direction import canonical_terms, opposition
from codesearch.search.ranking import AnalysedQuery, Ranking
from codesearch.text.terms import STOP_WORDS, base_form, terms_of, terms_of_each
from codesearch.types import GENERATED, NESTED, STUB, TEST, VENDORED

_COUNT = 20
"""Only so many of the best candidates are read. More change little."""
_REMEMBERED = 4096
_SENTENCE, _VERBATIM = 3, 0.8
"""A query of so many terms is a first sentence if they share this much of all their terms."""
_MUCH_USED, _SHORT = log(100), 3
_LOWERED = TEST | GENERATED | VENDORED | STUB | NESTED
_INSIDE = re.compile(r"(?:^|/)(?:_[^/]+|internal|private|priv|impl|details?)/", re.IGNORECASE)
"""A folder of what only the project uses."""
_ASIDE = re.compile(r"(?:^|/)(?:demo|example|sample|bench|benchmark|migration|tutorial)s?/", re.IGNORECASE)
"""A folder of what nothing uses."""
_ASKS_ASIDE = frozenset(map(base_form, "demo example sample benchmark migration tutorial".split()))
_MOST_EXTRA = 4
_HIDDEN = re.compile(r"(?:^|[.:/#\\])[_#]| ")
"""A name that begins so is private, also that of a class around it; one with a space is a callback."""


def add_prominence(query: AnalysedQuery, ranking: Ranking, config: RankConfig) -> None:
    """Reward the best candidates that are public by what their documentation says and by how much they are used."""
    documents, head = ranking.documents, ranking.order()[: min(_COUNT, config.heuristics_count)]
    terms, verbs = query.terms, opposition(query.text)
    share, asks_aside = min(1, _SHORT / len(terms)) ** 3, not _ASKS_ASIDE.isdisjoint(terms)
    summary, uses, opposite, verbatim, aside, extra = np.zeros((6, len(head)))
    refs = documents.refs(ranking.doc_ids[head].tolist())
    names = [ref.row.name for ref in refs]
    counts = documents.name_counts(names).tolist()
    for at, (ref, of_name) in enumerate(zip(refs, terms_of_each(names), strict=True)):
        row, file = ref.row, ref.file
        if verbs:
            words = set(canonical_terms(row.name))
            opposite[at] = -float(words.isdisjoint(verbs[0]) and not words.isdisjoint(verbs[1]))
        aside[at] = -float(not asks_aside and _ASIDE.search(file.path) is not None)
        extra[at] = -min(len(of_name.difference(terms)), _MOST_EXTRA) / _MOST_EXTRA
        says = _summary_terms(row.docstring)
        shared = len(says.intersection(terms))
        if row.flags & _LOWERED:
            continue
        is_sentence = shared >= _VERBATIM * len(says.union(terms) - STOP_WORDS)
        verbatim[at] = is_sentence and len(terms) >= _SENTENCE
        if is_public(file.path, file.language, row.qualified_name, row.signature):
            summary[at] = shared / len(terms)
            using, defining = counts[at]
            uses[at] = min(1, log1p(max(0, using - defining) / (defining or 1)) / _MUCH_USED)
    ranking.add_signal("summary", head, summary * share, reward=config.summary_weight)
    ranking.add_signal("uses", head, uses * share, reward=config.uses_weight)
    ranking.add_signal("verbatim", head, verbatim)
    ranking.add_signal("opposite", head, opposite, penalty=config.opposite_penalty)
    ranking.add_signal("aside", head, aside, penalty=config.aside_penalty)
    ranking.add_signal("extra", head, extra * share, penalty=config.extra_penalty)


@lru_cache(_REMEMBERED)
def is_public(path: str, language: str, qualified_name: str, signature: str) -> bool:
    """Say whether code outside of its project may use a definition, as far as its path, name and signature say it."""
    if _INSIDE.search(path) or _ASIDE.search(path) or _HIDDEN.search(qualified_name):
        return False
    return re.match(record_of(language).public, signature) is not None


@lru_cache(_REMEMBERED)
def _summary_terms(docstring: str) -> frozenset[str]:
    return frozenset(terms_of(first_sentence(docstring)))
