"""`compounds.txt` -> the words that a name written together is made of: `copytree` is found by "copy a tree".

A line of the file is a compound and its two words. It was learned from a corpus: `python -m training corpus compounds`.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def compounds() -> dict[str, tuple[str, ...]]:
    """Read compound -> words.

    >>> compounds()["filename"], "password" in compounds()
    (('file', 'name'), False)
    """
    text = resources.files("codesearch.index").joinpath("compounds.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {compound: tuple(words) for compound, *words in lines}
