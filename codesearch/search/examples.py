"""An index -> questions that it can answer, to show what a user may ask."""

from __future__ import annotations

import re

import numpy as np

from codesearch.parsing.docstrings import first_paragraph
from codesearch.store.reader import IndexReader
from codesearch.text.terms import STOP_WORDS
from codesearch.types import NESTED, Definition

_LOOKED_AT = 400
"""Documents that are read: enough for three questions, and it takes some milliseconds in an index of any size."""
_SENTENCE = re.compile(r"(?P<first>[A-Za-z]+)(?: [A-Za-z]+(?:-[a-z]+)?){3,8}(?=[.]?$|[.] )")
_KINDS = frozenset({"function", "method"})


def example_questions(index: IndexReader, count: int = 3) -> list[str]:
    """Return up to `count` first sentences of documentation, in lower case, each from another file.

    Definitions that are spread over the index are looked at, and those with the longest documentation are chosen. Tests
    and generated, vendored or unfinished code are left out. The same index has the same questions.
    """
    by_file: dict[str, tuple[int, str]] = {}
    for segment in index.segments:
        usable = (segment.rows["flags"] | NESTED) == NESTED
        usable[segment.dead] = False
        numbers = np.flatnonzero(usable)
        spread = numbers[np.linspace(0, len(numbers) - 1, min(_LOOKED_AT, len(numbers))).astype(np.int64)]
        for file, row in segment.store.documents(spread.tolist()).values():
            if question := _question(row.of(file)):
                by_file[file.path] = max(by_file.get(file.path, (0, "")), (len(row.docstring), question))
    best = sorted(by_file.values(), key=lambda entry: (-entry[0], entry[1]))
    return list(dict.fromkeys(question for _, question in best))[:count]


def _question(definition: Definition) -> str:
    """Return the first sentence of the documentation, or "" if it is no question that a user would ask."""
    text = " ".join(first_paragraph(definition.docstring).split())
    match = _SENTENCE.match(text.removeprefix(f"{definition.name} "))  # In Go, the name is the first word.
    if definition.kind not in _KINDS or not match or match["first"].lower() in STOP_WORDS:
        return ""
    return match.group()[0].lower() + match.group()[1:]
