"""Ranked definitions -> excerpts, which share some lines of code equally: the shape of an answer for an agent.

A short definition is shown whole, a long one by its best passages. An excerpt begins where a statement begins, with the
condition around it and the assignment of its variable if they are just above. Definitions inside of each other share an
excerpt, so no line is shown twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codesearch.search.snippets import head_lines, neighbours, spans_of
from codesearch.text.terms import query_terms
from codesearch.types import Hit

_MOST_LINES = 24
"""A longer definition is not shown whole in an answer with several."""
_ALONE = 1.6
"""A definition alone has so many times as many lines, because several have headings and long lines."""
LEAST_LINES = 4
"""With fewer lines than this for each, only the places of definitions are shown."""
_SLACK = 2
"""A definition with so many more lines than its share is shown whole."""
_SECOND = 0.9
"""A second passage is shown if it has this share of the best one's score."""
_MOST_UP = 3
"""Lines above a passage that may belong to its first statement."""
_GOES_ON = re.compile(r"[,(\[{=+*/|&?:\\<-]$|\b(?:and|or|not|return|do|then)$")
"""The end of a line whose statement or block goes on in the next line."""
_CONTINUES = re.compile(r"\s*(?:[.)\]}?:+|&]|else\b|elif\b|except\b|catch\b|and\b|or\b)")
_ASSIGNS = re.compile(
    r"\s*(?:[\w.<>*&\[\]]+\s+)*?[$@]?([A-Za-z_]\w*)(?:\s*,\s*\w+)*\s*(?::[^=]*)?(?::=|=)(?!=)"
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a definition, each with its number, ascending; `hit` is the outermost one of nested definitions."""

    hit: Hit
    lines: tuple[tuple[int, str], ...]

    @property
    def is_whole(self) -> bool:
        """Say whether all lines of the definition are there."""
        return len(self.lines) >= self.hit.last_line - self.hit.start_line + 1


def excerpts_of(hits: Sequence[Hit], query: str, lines: int) -> list[Excerpt]:
    """Return the excerpts of hits, in their order; together they have about so many lines."""
    if len(hits) == 1:
        lines = int(lines * _ALONE)
    most = lines if len(hits) == 1 else _MOST_LINES
    if lines < LEAST_LINES * len(hits):  # Only places.
        return [Excerpt(hit, ()) for hit in hits]
    needs = [min(hit.code.count("\n") + 1, most) for hit in hits]
    outer: dict[int, tuple[Hit, dict[int, str]]] = {}
    for at, (hit, share) in enumerate(zip(hits, shares(needs, lines), strict=True)):
        texts = hit.code.split("\n")
        chosen = {hit.start_line + line: texts[line] for line in _positions(hit, query, share)}
        near = next((key for key, (other, _) in outer.items() if _is_nested(hit, other)), at)
        known, shown = outer.get(near, (hit, {}))
        outer[near] = max(known, hit, key=lambda one: one.end_line - one.start_line), shown | chosen
    return [Excerpt(hit, tuple(sorted(shown.items()))) for hit, shown in outer.values()]


def shares(needs: Sequence[int], total: int) -> list[int]:
    """Return how many lines each gets of a total: as many as it needs, else an equal share of what the others leave.

    >>> shares([3, 20, 20], 23), shares([3, 4], 50)
    ([3, 10, 10], [3, 4])
    """
    given = [0] * len(needs)
    for left, at in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        given[at] = min(needs[at], (total - sum(given)) // (len(needs) - left))
    return given


def _is_nested(one: Hit, other: Hit) -> bool:
    """Say whether one of two definitions contains the other."""
    first, last = max(one.start_line, other.start_line), min(one.end_line, other.end_line)
    same_file = (one.root, one.path) == (other.root, other.path)
    return same_file and (first, last) in {(each.start_line, each.end_line) for each in (one, other)}


def _positions(hit: Hit, query: str, count: int) -> Iterable[int]:
    """Return the positions of about `count` lines of a hit, from 0."""
    lines, head = hit.code.split("\n"), head_lines(hit)
    if len(lines) <= count + _SLACK:
        return range(len(lines))
    terms, best = set(query_terms(query)), spans_of(hit)[:2]
    if not best:
        best = [range(len(lines))]
    elif len(best) == 2 and hit.passages[1].score < _SECOND * hit.passages[0].score:
        best.pop()
    chosen: set[int] = set()
    for span in best:
        able = [at for at in span if at not in head] or list(span)
        window = sorted(neighbours(lines, able, terms, count // len(best)))
        while window and not lines[window[0]].strip():
            window.pop(0)
        chosen.update(range(_begin(lines, window[0], head.stop), window[-1] + 1) if window else ())
    return chosen


def _begin(lines: Sequence[str], first: int, floor: int) -> int:
    """Return where the statement in a line begins: in a line above it that it continues, or that sets its variable."""
    for above in range(first - 1, max(first - 1 - _MOST_UP, floor - 1), -1):
        text = lines[above].rstrip()
        sets = _ASSIGNS.match(text)
        is_used = sets and re.search(rf"\b{sets[1]}\b", lines[first])
        if not (_GOES_ON.search(text) or _CONTINUES.match(lines[first]) or is_used):
            break
        first = above
    return first
