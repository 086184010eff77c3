"""The pattern of one name in a path, such as `*.py[cod]` -> what says whether a name matches, by the rules of git."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

MOST_GLOBS = 10_000
"""So many compiled names stay in memory. A walk needs no more (see `ignore`)."""
_SPECIAL = re.compile(r"[*?\[\\]")
_GLOB = re.compile(r"\\(.)|\[([!^]?)(\]?(?:\[:[a-z]*:\]|\\.|[^\]\\])*)\]|(\*+)|(.)", re.DOTALL)
_IN_SET = re.compile(r"\[:([a-z]*):\]|\\?(.)(?:-(?!\Z)\\?(.))?", re.DOTALL)
_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def is_plain(glob: str) -> bool:
    """Say whether a pattern matches only itself."""
    return not _SPECIAL.search(glob)


def is_valid(glob: str) -> bool:
    """Say whether a pattern can match a name."""
    return matcher(glob) is not _no_match


@lru_cache(maxsize=MOST_GLOBS)
def matcher(glob: str) -> Callable[[str], object]:
    """Return what says whether a name matches a pattern; an invalid one matches nothing."""
    if is_plain(glob):
        return glob.__eq__
    try:
        return re.compile(_translated(glob), re.DOTALL).fullmatch
    except (ValueError, re.error):
        return _no_match


def _no_match(name: str) -> bool:
    return False


def _translated(glob: str) -> str:
    """Translate the pattern of one name to a regular expression that tries each place at most once.

    What is before the first star is at the beginning, what is after the last one at the end, and each piece between
    two stars takes the first place that it fits.
    """
    pieces: list[list[str]] = [[]]
    for escaped, negation, characters, stars, literal in _GLOB.findall(glob):
        if stars:
            pieces.append([])
        elif characters:
            pieces[-1].append(_set(characters, is_negated=bool(negation)))
        elif literal in ("[", "\\"):
            raise ValueError(glob)  # A set without an end, or a mark before nothing.
        else:
            pieces[-1].append("." if literal == "?" else re.escape(escaped or literal))
    first, *middle = map("".join, pieces)
    if not middle:
        return first
    last = middle.pop()
    tail = f"(?=.{{{len(pieces[-1])}}}).*+(?<={last})" if last else ".*"
    return "".join([first, *(f"(?>.*?{piece})" for piece in middle if piece), tail])


def _set(characters: str, *, is_negated: bool) -> str:
    """Translate what is between the brackets of a set. A range that ends before it begins is its first character."""
    inside = ""
    for name, first, last in _IN_SET.findall(characters):
        if not first:
            if name not in _CLASSES:
                raise ValueError(name)
            inside += _CLASSES[name]
        else:
            inside += re.escape(first) + (f"-{re.escape(last)}" if first <= last else "")
    return f"[{'^' if is_negated else ''}{inside}]"
