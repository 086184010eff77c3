"""Keys under which two functions are the same, and the removal of all but the first.

Exact over normalised tokens for now; near-duplicates by MinHash take this module's place later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from codesearch.parsing.identifiers import words
from training.corpus.rows import MAX_CODE_CHARS, Row

_MIN_TOLD_TOKENS = 4


def code_key(language: str, code: str) -> bytes:
    """Hash the words and numbers of a function, so that layout, punctuation and case do not count.

    >>> code_key("go", "f(a,  b)") == code_key("go", "F(a, b);")
    True
    """
    return _digest("code", language, " ".join(words(code[:MAX_CODE_CHARS])).lower())


def docstring_key(language: str, identifier: str, paragraph: str) -> bytes | None:
    """Hash name and first paragraph, which outlive small edits of a body; None when too short to tell."""
    told = words(paragraph)
    if not identifier or len(told) < _MIN_TOLD_TOKENS:
        return None
    return _digest("docstring", language, identifier, " ".join(told).lower())


def row_keys(row: Row) -> list[bytes]:
    """List the keys of a row: equal in one of them means the same function."""
    told = docstring_key(row.language, row.identifier, row.docstring)
    return [code_key(row.language, row.code)] + ([told] if told else [])


def without_duplicates(rows: Iterable[Row], dropped: Counter[str]) -> Iterator[Row]:
    """Yield the rows that share no key with an earlier one; count the others."""
    seen: set[bytes] = set()
    for row in rows:
        keys = row_keys(row)
        if seen.isdisjoint(keys):
            yield row
        else:
            dropped["duplicate"] += 1
        seen.update(keys)


def _digest(*parts: str) -> bytes:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=10).digest()
