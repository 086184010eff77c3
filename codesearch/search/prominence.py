"""What of the first candidates is public and much used: `json.load` ranks above a helper with the same words.

Both signals depend on the query. A reward for all that is public or popular would hide code that is neither, and most
queries to a project that one knows ask for such code.

    summary = share of the query's terms in the first sentence of its documentation
    uses    = log(1 + other bodies that use its name / definitions with the name) / log(100), at most 1,
              * 2 / number of the query's terms, at most 1

Both are 0 for what is not public. A long query says more precisely what it wants, so `uses` counts less for it. A body
uses a name if it has all its terms. So the postings answer it, and it is the same after any history of updates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log, log1p

import numpy as np

from codesearch.config import RankConfig
from codesearch.languages import record_of
from codesearch.parsing.docstrings import first_sentence
from codesearch.search.lexical import LexicalScorer
from codesearch.search.ranking import Ranking
from codesearch.store.source import Ref
from codesearch.text.terms import FIELDS, query_terms, terms_of
from codesearch.types import GENERATED, NESTED, STUB, TEST, VENDORED

_COUNT = 20
"""Only so many of the best candidates are read. More change little."""
_MUCH_USED = log(100)
_NAME, _BODY = FIELDS.index("name"), FIELDS.index("body")
_LOWERED = TEST | GENERATED | VENDORED | STUB | NESTED
_INSIDE = re.compile(
    r"(?:^|/)(?:_[^/]+|internal|private|priv|impl|details?)/",  # A folder of what only the project uses.
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"(?:^|[.:/#\\])[_#]| ")
"""A name that begins so is private, also that of a class around it; one with a space is a callback."""


def add_prominence(
    terms: Sequence[str], ranking: Ranking, lexical: LexicalScorer, config: RankConfig
) -> None:
    """Reward the best candidates that are public by what their documentation says and by how much they are used."""
    head = ranking.order()[: min(_COUNT, config.heuristics_count)]
    refs = ranking.documents.refs(ranking.doc_ids[head].tolist())
    public = np.array([is_public(ref) for ref in refs], bool)
    shares = [len(terms_of(first_sentence(ref.row.docstring)).intersection(terms)) for ref in refs]
    ranking.add_signal("summary", head, public * shares / len(terms), reward=config.summary_weight)
    names = {ref.row.name for ref, is_shown in zip(refs, public, strict=True) if is_shown}
    uses = {name: _uses(name, lexical) for name in names}
    used = np.array([uses.get(ref.row.name, 0.0) for ref in refs]) * public
    ranking.add_signal("uses", head, used * min(1, 2 / len(terms)), reward=config.uses_weight)


def is_public(ref: Ref) -> bool:
    """Say whether code outside of its project may use a definition, as far as its name, path and signature say it."""
    if _INSIDE.search(ref.path) or ref.row.flags & _LOWERED or _HIDDEN.search(ref.row.qualified_name):
        return False
    return re.match(record_of(ref.file.language).public, ref.row.signature) is not None


def _uses(name: str, lexical: LexicalScorer) -> float:
    """Return how much a name is used, 0 to 1."""
    if not (terms := query_terms(name)):
        return 0.0
    using = lexical.count_with(terms[1:] or terms, _BODY)
    defining = lexical.count_with(terms[:1], _NAME) or 1
    return min(1.0, log1p(max(0, using - defining) / defining) / _MUCH_USED)
