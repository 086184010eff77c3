"""Rows of a corpus -> the names that people write as one word and as two: `filename` and `file_name`.

A compound is a subtoken whose two halves also occur next to each other, in identifiers (`fileName`) or prose ("file
name"), at least a twentieth as often as the subtoken itself. `output` is not a compound, because `out_put` is rare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from codesearch.parsing.identifiers import split_identifier, words
from training.corpus.rows import Row

_SHORTEST, _SHORTEST_HALF = 6, 3
_MIN_COUNT, _MIN_PACKAGES = 8, 2
_MIN_APART, _MIN_SHARE = 6, 0.05
_MIN_HALF_COUNT = 300
_MAX_CODE_CHARS = 1_500


@dataclass(slots=True)
class Counts:
    """How often single subtokens and pairs of neighbours occur; an identifier counts once per function."""

    alone: Counter[str] = field(default_factory=Counter)
    together: Counter[tuple[str, str]] = field(default_factory=Counter)
    packages: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, row: Row) -> None:
        """Count a function's identifiers and the words of its documentation."""
        texts = (row.func_name, row.docstring, row.docstring_rest, row.code[:_MAX_CODE_CHARS])
        for identifier in dict.fromkeys(word for text in texts for word in words(text)):
            parts = split_identifier(identifier)
            self.alone.update(parts)
            self.together.update(zip(parts, parts[1:], strict=False))
            for part in parts:
                self.packages[part].add(row.package)
        prose = [word.lower() for word in words(row.docstring)]
        self.together.update(zip(prose, prose[1:], strict=False))


def learn_compounds(rows: Iterable[Row]) -> list[tuple[str, str, str]]:
    """Return compounds with their halves, in alphabetical order."""
    counts = Counts()
    for row in rows:
        counts.add(row)
    return sorted(_compounds(counts))


def _compounds(counts: Counts) -> Iterator[tuple[str, str, str]]:
    for word, count in counts.alone.items():
        if count < _MIN_COUNT or len(counts.packages[word]) < _MIN_PACKAGES:
            continue
        if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
            continue
        cuts = range(_SHORTEST_HALF, len(word) - _SHORTEST_HALF + 1)
        apart, left, right = max(
            (counts.together[word[:cut], word[cut:]], word[:cut], word[cut:]) for cut in cuts
        )
        rarer = min(counts.alone[left], counts.alone[right])
        if apart >= max(_MIN_APART, _MIN_SHARE * count) and rarer >= _MIN_HALF_COUNT:
            yield word, left, right
