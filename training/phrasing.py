"""A docstring's first paragraph -> the query that a person would type to find the function.

Documentation describes a function in whole sentences. People ask for it in a few words, usually in the imperative:
"Returns the largest element of a list. Raises ..." -> "return the largest element of a list".
"""

from __future__ import annotations

import random
import re

_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s|\n\s*\n")
_WORD = re.compile(r"\w+")
_MOST_WORDS = 12
_BEGINNINGS = ("", "", "", "how to", "python")
"""Beginnings of typed queries; one that is listed more often is drawn more often."""
_THIRD_PERSON = (
    (re.compile(r"ies$"), "y"),
    (re.compile(r"(?:(?<=ss|zz|sh)|(?<=[trn]ch)|(?<=x))es$"), ""),
    (re.compile(r"(?<=[a-hj-rtv-z])s$"), ""),
)


def as_typed(paragraph: str, chance: random.Random) -> str:
    """Rewrite a paragraph as people type it; return it unchanged if it has no words.

    >>> as_typed("Parses the header. Never fails.", random.Random(1))
    'parse the header'
    """
    sentence = _SENTENCE_END.split(paragraph.strip(), maxsplit=1)[0]
    words = _WORD.findall(sentence.lower())[:_MOST_WORDS]
    if not words:
        return paragraph
    return " ".join([chance.choice(_BEGINNINGS), imperative(words[0]), *words[1:]]).strip()


def imperative(verb: str) -> str:
    """Remove the ending of the third person from a lower-case word.

    >>> [imperative(verb) for verb in ("parses", "copies", "fetches", "process", "this")]
    ['parse', 'copy', 'fetch', 'process', 'this']
    """
    if len(verb) > 3:
        for ending, instead in _THIRD_PERSON:
            if ending.search(verb):
                return ending.sub(instead, verb)
    return verb
