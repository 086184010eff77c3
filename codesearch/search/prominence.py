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
from functools import lru_cache
from math import log, log1p

import numpy as np

from codesearch.config import RankConfig
from codesearch.languages import record_of
from codesearch.parsing.docstrings import first_sentence
from codesearch.search.ranking import Ranking
from codesearch.text.terms import terms_of
from codesearch.types import GENERATED, NESTED, STUB, TEST, VENDORED

_COUNT = 20
"""Only so many of the best candidates are read. More change little."""
_REMEMBERED = 4096
_MUCH_USED = log(100)
_LOWERED = TEST | GENERATED | VENDORED | STUB | NESTED
_INSIDE = re.compile(
    r"(?:^|/)(?:_[^/]+|internal|private|priv|impl|details?)/",  # A folder of what only the project uses.
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"(?:^|[.:/#\\])[_#]| ")
"""A name that begins so is private, also that of a class around it; one with a space is a callback."""


def add_prominence(terms: Sequence[str], ranking: Ranking, config: RankConfig) -> None:
    """Reward the best candidates that are public by what their documentation says and by how much they are used."""
    documents, head = ranking.documents, ranking.order()[: min(_COUNT, config.heuristics_count)]
    summary, uses = np.zeros(len(head)), np.zeros(len(head))
    for at, ref in enumerate(documents.refs(ranking.doc_ids[head].tolist())):
        row, file = ref.row, ref.file
        if not row.flags & _LOWERED and is_public(
            file.path, file.language, row.qualified_name, row.signature
        ):
            summary[at] = len(_summary_terms(row.docstring).intersection(terms)) / len(terms)
            using, defining = documents.name_counts(row.name)
            uses[at] = min(1, log1p(max(0, using - defining) / (defining or 1)) / _MUCH_USED)
    ranking.add_signal("summary", head, summary, reward=config.summary_weight)
    ranking.add_signal("uses", head, uses * min(1, 2 / len(terms)), reward=config.uses_weight)


@lru_cache(_REMEMBERED)
def is_public(path: str, language: str, qualified_name: str, signature: str) -> bool:
    """Say whether code outside of its project may use a definition, as far as its path, name and signature say it."""
    if _INSIDE.search(path) or _HIDDEN.search(qualified_name):
        return False
    return re.match(record_of(language).public, signature) is not None


@lru_cache(_REMEMBERED)
def _summary_terms(docstring: str) -> frozenset[str]:
    return frozenset(terms_of(first_sentence(docstring)))
