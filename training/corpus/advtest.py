"""Rows -> the rows that AdvTest keeps; rows for evaluation lose their identifiers.

*Source*: Lu et al. 2021 (CodeXGLUE), NL-code-search-Adv: the code must parse, and the documentation must be English,
with 3 to 256 tokens and no special tokens. Published examples in the validation and test sets have replaced names,
including `self` and Python's keyword arguments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from codesearch.parsing.identifiers import words
from training.corpus.anonymous import FUNCTION_NAME, LANGUAGE, anonymised
from training.corpus.rows import CsnRow, Row

MIN_TOKENS, MAX_TOKENS = 3, 256
_ANONYMISED = ("valid", "test")
_SPECIAL = re.compile(r"<img\b|https?:", re.IGNORECASE)
_MIN_ASCII_LETTERS = 0.9
_ENGLISH = frozenset(
    "the a an of to and is in for from with this that if by on or be it are as at not returns return given which "
    "when all get set used into".split()
)
# None of these words is also English or common in code.
_FOREIGN = frozenset(
    "el la los las una del que por para con como si está esta este der das ist ein eine und nicht den dem wird mit "
    "von zum zur le les des une dans pour avec est sont qui du au aux um uma não é do da dos nos pelo il della che "
    "per un ou et de".split()
)


def advtest_rows(rows: Iterable[CsnRow], dropped: Counter[str]) -> Iterator[CsnRow]:
    """Yield the rows that AdvTest keeps, all of them Python; count the others by reason.

    Rows of the validation and test partitions have no names, and no fields that reveal them.
    """
    for loaded in rows:
        row = loaded.row
        reason = drop_reason(row.docstring, loaded.docstring_tokens or words(row.docstring))
        if row.language != LANGUAGE:
            reason = "not Python"
        code = None if reason else anonymised(row.code, row.language, row.identifier)
        if reason or code is None:
            dropped[reason or "does not parse"] += 1
        elif row.partition in _ANONYMISED:
            yield CsnRow(_without_names(row, code), docstring_tokens=loaded.docstring_tokens, sha=loaded.sha)
        else:
            yield loaded


def drop_reason(docstring: str, tokens: Iterable[str]) -> str:
    """Return the name of the filter that a docstring fails, or "" if it passes all.

    >>> drop_reason("See https://example.org for more", ["See", "more", "there"])
    'special token'
    """
    count = sum(1 for _ in tokens)
    if count < MIN_TOKENS:
        return f"docstring under {MIN_TOKENS} tokens"
    if count > MAX_TOKENS:
        return f"docstring over {MAX_TOKENS} tokens"
    if _SPECIAL.search(docstring):
        return "special token"
    return "" if is_english(docstring) else "not English"


def is_english(text: str) -> bool:
    """Return whether a text may be English: Latin letters, and not more function words of other languages than English.

    A short imperative has no function words and passes.

    >>> is_english("Sort the rows."), is_english("Ordena las filas de la tabla."), is_english("排序 rows")
    (True, False, False)
    """
    letters = [character for character in text if character.isalpha()]
    if not letters or sum(map(str.isascii, letters)) < _MIN_ASCII_LETTERS * len(letters):
        return False
    found = Counter(words(text.lower()))
    foreign = sum(found[word] for word in _FOREIGN)
    return foreign == 0 or foreign <= sum(found[word] for word in _ENGLISH)


def _without_names(row: Row, code: str) -> Row:
    names = {"func_name": FUNCTION_NAME, "identifier": FUNCTION_NAME}
    return replace(row, **names, code=code, docstring_rest="")
