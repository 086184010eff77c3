"""A query of one word, such as "zip", is often the beginning of a name that the user does not know in full.

Public modules, classes and functions whose names begin with the word rank higher, and private definitions rank lower.
Definitions that have exactly this name come first in any case (`Ranking.put_names_first`).
"""

from __future__ import annotations

import re

from codesearch.search.forms import name_parts, split_name
from codesearch.segments.store import DocumentRow

_PRIVATE_NAME = re.compile(r"#|_(?!_.*__$)")
_PRIVATE = re.compile(r"\s*(?:[@\w]+\s+)*?(?:file)?private\s")


def single_word(query: str) -> str:
    """Return the query in lower case if it is one word that can be a name, else ""."""
    parts = name_parts(query)
    return parts[0].lower() if len(parts) == 1 else ""


def completes(word: str, row: DocumentRow) -> float:
    """Return -1 for a private definition, 1 for another one whose name begins with the word, else 0."""
    # `#` begins a private name, but it is also a separator.
    names = [row.name, *split_name(row.qualified_name)]
    if any(map(_PRIVATE_NAME.match, names)) or _PRIVATE.match(row.signature):
        return -1.0
    return float(row.kind != "method" and row.name.lower().startswith(word))
