"""Ranked definitions -> excerpts, which share some lines of code equally: the shape of an answer for an agent.

A short definition is shown whole, a long one by its best passages. An excerpt begins where a statement begins, with the
condition around it and the assignment of its variable if they are just above. Definitions inside of each other share an
excerpt, so no line is shown twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from codesearch.search.snippets import docstring_lines, head_lines, neighbours, shares, spans_of
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
_CLOSES = re.compile(r"\W*(?:end)?\W*")
_LINE = 36
"""The usual length of a line of code without its indentation."""
_SHORT = 100
"""Characters of the line of a signature that is shown above a passage."""
_SECOND, _MOST_PASSAGES = 0.7, 2
"""A second passage is shown if it has this share of the best one's score."""
_MOST_UP = 3
"""Lines above a passage that may belong to its first statement."""
_MOST_DOWN = 6
"""Lines below a comment that may belong to it, with the rest of the comment."""
_COMMENT = re.compile(r"\s*(?://|/?\*|#(?!\[|include|define|if|el|end)|--)")
_GOES_ON = re.compile(r"[,(\[{=+*/|&?:\\<-]$|\b(?:and|or|not|return|do|then)$")
"""The end of a line whose statement or block goes on in the next line."""
_CONTINUES = re.compile(r"\s*(?:[.)\]}?:+|&]|else\b|elif\b|except\b|catch\b|and\b|or\b)")
_ASSIGNS = re.compile(
    r"\s*(?:[\w.<>*&\[\]]+\s+)*?[$@]?([A-Za-z_]\w*)(?:\s*,\s*\w+)*\s*(?::[^=]*)?(?::=|=)(?!=)"
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a definition, each with its number, ascending; `hit` is the outermost one of nested definitions.

    Empty lines and those that only close something are left out. If it `is_whole`, no other line is missing. A line
    with the number 0 stands for missing ones.
    """

    hit: Hit
    lines: tuple[tuple[int, str], ...]
    is_whole: bool = False


def excerpts_of(hits: Sequence[Hit], query: str, lines: int) -> list[Excerpt]:
    """Return the excerpts of hits, in their order; together they have about so many lines, fewer if these are long."""
    excerpts = _excerpts(hits, query, lines)
    size = sum(len(text.strip()) for excerpt in excerpts for _, text in excerpt.lines)
    if size > lines * _LINE:
        excerpts = _excerpts(hits, query, max(lines * lines * _LINE // size, LEAST_LINES * len(hits)))
    return excerpts


def _excerpts(hits: Sequence[Hit], query: str, lines: int) -> list[Excerpt]:
    if lines < LEAST_LINES * len(hits):  # Only places.
        return [Excerpt(hit, ()) for hit in hits]
    if len(hits) == 1:
        lines = int(lines * _ALONE)
    telling = [_telling(hit.code.split("\n")) for hit in hits]
    most = lines if len(hits) == 1 else _MOST_LINES
    outer: dict[int, tuple[Hit, set[int]]] = {}
    given = shares([min(len(own), most) for own in telling], lines)
    for at, (hit, own, share) in enumerate(zip(hits, telling, given, strict=True)):
        numbers = {hit.start_line + line for line in _positions(hit, own, query, share)}
        near = next((key for key, (other, _) in outer.items() if _is_nested(hit, other)), at)
        known, shown = outer.get(near, (hit, set()))
        outer[near] = max(known, hit, key=lambda one: one.end_line - one.start_line), shown | numbers
    return [_excerpt(hit, shown) for hit, shown in outer.values()]


def _telling(lines: Sequence[str]) -> list[int]:
    """Return the positions of the lines that say something."""
    return [at for at, line in enumerate(lines) if not _CLOSES.fullmatch(line)]


def _excerpt(hit: Hit, numbers: Iterable[int]) -> Excerpt:
    lines, shown = hit.code.split("\n"), sorted(number - hit.start_line for number in numbers)
    telling = _telling(lines)
    rank = {at: position for position, at in enumerate(telling)}
    found = list[tuple[int, str]]()
    before = -1
    for at in shown:
        if found and rank[at] > before + 1:
            found.append((0, "..."))
        before = rank[at]
        found.append((hit.start_line + at, lines[at]))
    return Excerpt(hit, tuple(found), len(shown) == len(telling) and hit.last_line == hit.end_line)


def _is_nested(one: Hit, other: Hit) -> bool:
    """Say whether one of two definitions contains the other."""
    first, last = max(one.start_line, other.start_line), min(one.end_line, other.end_line)
    same_file = (one.root, one.path) == (other.root, other.path)
    return same_file and (first, last) in {(each.start_line, each.end_line) for each in (one, other)}


def _positions(hit: Hit, telling: Sequence[int], query: str, count: int) -> Iterable[int]:
    """Return the positions of about `count` of the lines of a hit that say something, from 0."""
    if len(telling) <= count + _SLACK:
        return telling
    lines, head = hit.code.split("\n"), head_lines(hit)
    left_out = {*head, *docstring_lines(lines, head.stop)}
    terms = set(query_terms(query))
    spans = zip(spans_of(hit), hit.passages, strict=True)
    best = [span for span, passage in spans if passage.score >= _SECOND * hit.passages[0].score][
        :_MOST_PASSAGES
    ]
    named = next(
        (at for at in head if hit.name in lines[at]), head.start
    )  # In C, below the type of the result.
    chosen = {named} if named in telling and len(lines[named]) <= _SHORT else set[int]()
    for span in best or [range(len(lines))]:
        body = [at for at in telling if at not in left_out] or list(telling)
        able = [at for at in body if at in span] or body
        window = sorted(neighbours(lines, able, terms, max((count - len(chosen)) // max(len(best), 1), 1)))
        first, last = _begin(lines, window[0], head.stop), _behind_comment(lines, window[-1])
        chosen.update(at for at in telling if first <= at <= last)
    return chosen


def _behind_comment(lines: Sequence[str], last: int) -> int:
    """Return the position of the second line of code behind a comment in the last line, which is about this code."""
    if not _COMMENT.match(lines[last]):
        return last
    code = [at for at in range(last, len(lines)) if lines[at].strip() and not _COMMENT.match(lines[at])]
    return min(code[1] if len(code) > 1 else last, last + _MOST_DOWN)


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
