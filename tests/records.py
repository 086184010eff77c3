"""Records with usual values, for tests that look at a few fields."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from codesearch.store.postings import PostingsBlock
from codesearch.text.terms import FIELDS
from codesearch.types import Hit


def make_hit(code: str, start_line: int = 1, **fields: Any) -> Hit:
    """Return the best hit of a query: the Python function `load` of /src/a.py with some code."""
    last = start_line + code.count("\n")
    usual = {
        "rank": 1,
        "score": 0.5,
        "root": "/src",
        "path": "a.py",
        "language": "python",
        "kind": "function",
        "name": "load",
        "qualified_name": fields.get("name", "load"),
        "docstring": "",
        "end_line": last,
        "last_line": last,
        "signals": {},
    }
    return Hit(**{**usual, **fields, "code": code, "start_line": start_line})


def counted_block(documents: Iterable[Sequence[Counter[str]]]) -> PostingsBlock:
    """Return the block of documents, each given by one counter of terms for each field."""
    listed = list(documents)
    postings = [
        (term, field, doc_id, frequency)
        for doc_id, fields in enumerate(listed)
        for field, counts in enumerate(fields)
        for term, frequency in counts.items()
    ]
    terms = sorted({term for term, *_ in postings})
    columns = np.array([(terms.index(term) * len(FIELDS) + field, *rest) for term, field, *rest in postings])
    keys, doc_ids, frequencies = columns.reshape(-1, 3).T
    lengths = [counts.total() for fields in listed for counts in fields]
    return PostingsBlock(
        terms,
        keys.astype(np.uint32),
        doc_ids.astype(np.uint32),
        frequencies.astype(np.uint8),
        np.minimum(lengths, 65_535).astype(np.uint16).reshape(-1, len(FIELDS)),
    )
