"""`abbreviations.txt` -> what an abbreviation stands for: "str" in a name is the "string" of a question.

A line of the file is a word and its abbreviations; one that begins with `#` is a comment.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def expansions() -> dict[str, str]:
    """Read abbreviation -> word.

    >>> expansions()["idx"], "index" in expansions()
    ('index', False)
    """
    text = resources.files("codesearch.index").joinpath("abbreviations.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {abbreviation: word for word, *abbreviations in lines for abbreviation in abbreviations}
