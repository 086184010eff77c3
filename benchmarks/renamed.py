"""Real source files -> more files, in which the words of identifiers and comments are exchanged.

Each copy exchanges a word for a different one of about the same frequency. So lengths, document frequencies and
repetition are those of real code, but no two copies of a function have the same terms. Keywords are not changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from random import Random

from codesearch.languages import language_of_path
from codesearch.parsing.extract import extract

_WORD = re.compile(r"[A-Z][a-z]{3,}|[a-z]{4,}")
_NEIGHBOURS = 64
_KEPT = frozenset(
    "abstract array async await begin boolean break byte case catch chan char class clone const continue debugger "
    "declare default defer delete double echo elsif else elseif elif empty endif ensure enum eval except export "
    "extends false fallthrough final finally float foreach from func function global goto implements import include "
    "instanceof insteadof interface isset lambda long make module namespace native next nil none nonlocal null "
    "object package "
    "pass print private protected public raise range redo require rescue retry return select self short static "
    "strictfp string struct super switch synchronized then this throw throws trait transient true type typeof undef "
    "unless unset until using void volatile when while with yield".split()
)


def renamed_texts(texts: Sequence[str]) -> Iterator[str]:
    """Yield the unchanged texts, then copies with other words, without end."""
    yield from texts
    words = frequent_first(texts)
    for seed in count(1):
        others = exchanged(words, seed)
        for text in texts:
            yield rename(text, others)


def frequent_first(texts: Iterable[str]) -> list[str]:
    """List the words of texts in lower case, the most frequent first, ties in alphabetical order."""
    counts = Counter(word.lower() for text in texts for word in _WORD.findall(text))
    return sorted(counts.keys() - _KEPT, key=lambda word: (-counts[word], word))


def exchanged(words: Sequence[str], seed: int) -> dict[str, str]:
    """Map each word to one near it in `words`; `seed` permutes each neighbourhood.

    >>> exchanged(["get", "set"], 0) in ({"get": "get", "set": "set"}, {"get": "set", "set": "get"})
    True
    """
    random = Random(seed)
    mapping = {}
    for start in range(0, len(words), _NEIGHBOURS):
        block = list(words[start : start + _NEIGHBOURS])
        mapping.update(zip(block, random.sample(block, len(block)), strict=True))
    return mapping


def rename(text: str, others: dict[str, str]) -> str:
    """Exchange words and keep their capital letters.

    >>> rename("def readLine(): return self.line", {"read": "open", "line": "door"})
    'def openDoor(): return self.door'
    """

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word[0].islower():
            return others.get(word, word)
        return others.get(word.lower(), word).capitalize()

    return _WORD.sub(other, text)


def write_renamed(sources: Path, tree: Path, documents: int) -> int:
    """Write files until they have that many documents: first those of `sources` in random order, then copies.

    Returns:
        The number of files.
    """
    paths = sorted(path for path in sources.rglob("*") if path.is_file() and language_of_path(path.name))
    Random(0).shuffle(paths)
    texts = [path.read_bytes().decode("utf-8", "replace") for path in paths]
    files = 0
    for number, text in enumerate(renamed_texts(texts)):
        path = tree / f"{number // 100:05}" / f"{number % 100:02}{paths[number % len(paths)].suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        files += 1
        documents -= _documents_in(paths[number % len(paths)])
        if documents <= 0:
            break
    return files


@cache
def _documents_in(path: Path) -> int:
    spec = language_of_path(path.name)
    return len(extract(path.read_bytes(), path.name, spec).documents) if spec else 0
