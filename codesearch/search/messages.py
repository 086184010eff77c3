r"""A message that a program has printed -> the definitions with the text that it was made from, and the line.

Other words may stand around the text, such as `ValueError:` or the name of a program, and values in place of its holes:
`%d`, `{name}`, `${name}`, or what is between two strings (`"at " + path + ":"`). So each line or sentence of a string
in the source is compared with the whole query; a hole stands for up to eight words. Keywords propose few documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from codesearch.search.lexical import LexicalScorer
from codesearch.store.snapshot import Snapshot
from codesearch.text.terms import STOP_WORDS, query_terms

_LOOKS_SO = re.compile(r"\w:\s|\d|[A-Z]\w+(?:Error|Exception|Warning)\b|[\"'`][^\"'`]+[\"'`]")
_QUESTION = re.compile(r"(?:how|what|where|which|who|why|when|is|are|can|does|do)\b|.*\?$", re.IGNORECASE)
_MOST_WORDS = 60
_FEWEST_FIXED, _FEWEST_PLAIN, _FEWEST_SAID = 3, 5, 2
"""The fewest words of a text, also if the query has no other sign of a message, and those that are no stop words."""
_PROPOSED, _MOST_DOCUMENTS = 40, 5
"""Documents that are read, and those that are found; a text in more of them says nothing about one."""
_HOLE = "\0"
_STRING = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`[^`]*+`)"
_BETWEEN = r"\s*(?:(?:[+.]|<<)\s*(?:[\w.()\[\]>-]{1,60}\s*(?:[+.]|<<))?)?\s*[bfru]?"
_TEXT = re.compile(f"{_STRING}(?:{_BETWEEN}{_STRING})*+")
_JOINED = re.compile(f"[\"'`]({_BETWEEN})[\"'`]")
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+#.\d]*[hlzj]*[a-zA-Z]|[$#]?\{[^{}\n]{0,80}\}|\$\w+")
_END = re.compile(r"\\[nrt]|(?<=[.!?])\s|\n")
_WORD = re.compile(rf"{_HOLE}|\w+")


def message_documents(
    query: str, snapshot: Snapshot, lexical: LexicalScorer, allowed: NDArray[np.bool_] | None
) -> dict[int, int]:
    """Return the allowed documents with the text that explains most words of a query, and the lines where it is."""
    words, looks_so = _WORD.findall(query.lower()), _LOOKS_SO.search(query)
    fewest = _FEWEST_FIXED if looks_so else _FEWEST_PLAIN
    is_message = looks_so or query[:1].isupper()
    if not is_message or not fewest <= len(words) <= _MOST_WORDS or _QUESTION.match(query):
        return {}
    said = f" {' '.join(words)} "
    found: dict[int, int] = {}
    most = 0
    scores, _, _ = lexical.scores(query_terms(query))
    proposed = np.flatnonzero(scores if allowed is None else scores * allowed)
    for ref in snapshot.refs(snapshot.best(proposed, scores[proposed], _PROPOSED).tolist()):
        excerpt = ref.code()
        for size, line in texts_in(excerpt.code if excerpt else "", said):
            if size > max(most, fewest - 1):
                found, most = {}, size
            if size == most:
                found.setdefault(ref.doc_id, ref.row.start_line + line)
    return found if len(found) <= _MOST_DOCUMENTS else {}


def texts_in(code: str, said: str) -> Iterator[tuple[int, int]]:
    """Yield for each text of some code that the words of a message have, how many they are, and its line from 0."""
    for match in _TEXT.finditer(code):
        text = _JOINED.sub(lambda between: _HOLE if re.search(r"\w\w|[+<]", between[1]) else "", match[0])
        for part in _END.split(_PLACEHOLDER.sub(_HOLE, text)):
            words = _WORD.findall(part.lower())
            fixed = [word for word in words if word != _HOLE]
            is_long_enough = _FEWEST_FIXED <= len(fixed) <= _MOST_WORDS
            if not is_long_enough or sum(word not in STOP_WORDS for word in fixed) < _FEWEST_SAID:
                continue
            if not all(f" {word} " in said for word in fixed):
                continue
            pattern = "".join(r"(?:\w+ ){0,8}?" if word == _HOLE else f"{re.escape(word)} " for word in words)
            if explained := re.search(f" {pattern}", said):
                yield explained[0].count(" ") - 1, code.count("\n", 0, match.start())
