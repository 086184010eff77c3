"""A hit and a query -> the lines of the hit that match the query best, and the words in them that are marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from codesearch.languages import record_of
from codesearch.parsing.identifiers import subtoken_spans
from codesearch.search.patterns import TextPattern
from codesearch.text.terms import query_terms, terms_of_each
from codesearch.types import Hit

Marker = Callable[[str], list[tuple[int, int]]]
_MAX_HEAD = 60
"""A signature is followed for this many lines."""
_BEFORE = 5
"""Words such as `export` that may come before a signature in its line."""
_QUOTES = re.compile(r"\s*[rR]?(\"{3}|'{3})")
_ALIKE = 0.75
"""Two lines are nearly equal if they share this part of their terms."""
SNIPPET_LINES = 3
"""Lines of code that a hit shows."""
WITH_CODE = 3
"""Hits that show code on every screen."""
MAX_COLOURED = 60_000
"""Characters of code that are coloured, because a lexer reads about 1 MB/s."""


def snippet_lines(hit: Hit, query: str, mode: str, count: int) -> list[int]:
    """Return the positions of up to `count` lines of a hit that explain it, from 0, the best first.

    Of a signature over several lines, only the first one is there. An exact text is
    explained by the lines where it begins, a long definition by lines of its best passage.
    """
    if not hit.code or not count:
        return []
    if mode == "exact":
        begun = query.split("\n")[0]
        return [at for at, line in enumerate(hit.code.split("\n")) if begun in line][:count]
    if hit.passages:
        return _passage_lines(hit, query, count)
    return best_lines(hit.code, "" if mode == "similar" else query, count, head_lines(hit))


def spans_of(hit: Hit) -> list[range]:
    """Return the positions of the lines of each passage of a hit, from 0."""
    ends = (passage.end_line - hit.start_line + 1 for passage in hit.passages)
    last = hit.code.count("\n") + 1  # A file that has changed may be shorter.
    return [
        range(passage.start_line - hit.start_line, min(end, last))
        for passage, end in zip(hit.passages, ends, strict=True)
    ]


def _passage_lines(hit: Hit, query: str, count: int) -> list[int]:
    """Return the positions of up to `count` lines, best first: after two of the best passage, one of the next.

    Those of a passage are neighbours. Neither the signature nor the documentation is among them.
    """
    lines, head, wanted = hit.code.split("\n"), head_lines(hit), set(query_terms(query))
    left_out = {*head, *docstring_lines(lines, head.stop)}
    able = [at for at in range(len(lines)) if at not in left_out and any(map(str.isalnum, lines[at]))]
    of_passages = ([at for at in able if at in span] for span in spans_of(hit))
    best, *others = list(filter(None, of_passages)) or [able]
    of_next = count // 3 if others else 0
    chosen = neighbours(lines, best, wanted, count - of_next)
    for at, position in enumerate(neighbours(lines, others[0], wanted, of_next) if of_next else ()):
        chosen.insert(3 * at + 2, position)
    return chosen


def neighbours(
    lines: Sequence[str], positions: Sequence[int], wanted: AbstractSet[str], count: int
) -> list[int]:
    """Return `count` neighbours among positions of lines that have the most wanted terms, those near the best first.

    A term counts less if many of the lines have it. Of equally good ones, those in the middle are chosen.
    """
    weights = _weights(terms_of_each([lines[at] for at in positions]), wanted)
    last = max(len(positions) - count, 0)
    first = max(
        range(last + 1), key=lambda start: (sum(weights[start : start + count]), -abs(2 * start - last))
    )
    chosen = range(first, min(first + count, len(positions)))
    best = max(chosen, key=weights.__getitem__, default=0)
    return [positions[at] for at in sorted(chosen, key=lambda at: abs(at - best))]


def _weights(terms: Sequence[AbstractSet[str]], wanted: AbstractSet[str]) -> list[float]:
    """Return how much the terms of each line say: a wanted term counts less if many of the lines have it."""
    matching = [line_terms & wanted for line_terms in terms]
    lines_with = Counter(term for line_terms in matching for term in line_terms)
    return [sum(1 / lines_with[term] for term in line_terms) for line_terms in matching]


def fitted(wanted: Sequence[int], rows: int) -> list[int] | None:
    """Return how many lines of code each hit shows in the rows that are left for code; None if they are too few.

    The first hits get a line each, then the first of them all of its lines, then the next. What is left goes to others.

    >>> fitted([3, 3, 3, 3], 5), fitted([3, 3, 3, 3], 10), fitted([3, 3, 3], 2)
    ([3, 1, 1, 0], [3, 3, 3, 1], None)
    """
    first = range(len(wanted))[:WITH_CODE]
    if rows < len(first):
        return None
    shown = [0] * len(wanted)
    for at in (*first, *(at for at in range(len(wanted)) for _ in range(SNIPPET_LINES))):
        if rows and shown[at] < wanted[at]:
            shown[at] += 1
            rows -= 1
    return shown


def shares(needs: Sequence[int], total: int) -> list[int]:
    """Return how many lines each gets of a total: as many as it needs, else an equal share of what the others leave.

    >>> shares([3, 20, 20], 23), shares([3, 4], 50)
    ([3, 10, 10], [3, 4])
    """
    given = [0] * len(needs)
    for left, at in enumerate(sorted(range(len(needs)), key=needs.__getitem__)):
        given[at] = min(needs[at], (total - sum(given)) // (len(needs) - left))
    return given


def docstring_lines(lines: Sequence[str], first: int) -> range:
    """Return the positions of the string that documents a definition in its first lines, as in Python."""
    begin = next((at for at in range(first, len(lines)) if lines[at].strip()), first)
    mark = _QUOTES.match(lines[begin]) if begin < len(lines) else None
    if mark is None:
        return range(0)
    ends = (at for at in range(begin, len(lines)) if mark[1] in lines[at][mark.end() * (at == begin) :])
    return range(begin, next(ends, begin) + 1)


def head_lines(hit: Hit) -> range:
    """Return the positions of the lines with the signature of a hit; annotations above it are not among them."""
    return head_of(hit.code.split("\n", _MAX_HEAD), hit.signature)


def head_of(lines: Sequence[str], signature: str) -> range:
    """Return the positions of the lines with the signature of a definition that begins with the first line."""
    lines = lines[:_MAX_HEAD]
    wanted = _squeezed(signature)
    for first, line in enumerate(lines):
        words = line.split()
        for begun in ("".join(words[before:]) for before in range(min(len(words), _BEFORE))):
            if wanted and wanted.startswith(begun) and len(begun) < len(wanted):
                return range(first, _end(lines, first, begun, wanted))
            if wanted and begun.startswith(wanted):
                return range(first, first + 1)
    return range(1)


def _end(lines: Sequence[str], first: int, begun: str, wanted: str) -> int:
    """Return the position after a signature that begins in line `first` with the text `begun`.

    It ends after its brackets, unless that line has only the return type, or a clause such as `where` follows.
    """
    end = first + _length(lines[first:])
    rest = wanted.removeprefix(begun + "".join(map(_squeezed, lines[first + 1 : end])))
    while rest not in ("", wanted) and end < len(lines):
        line = _squeezed(lines[end])
        if not line or not (line.startswith(rest) or rest.startswith(line)):
            break
        rest = rest[len(line) :]
        end += 1
    return end


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _length(lines: Sequence[str]) -> int:
    """Return how many lines it takes to close the brackets of the first one; 1 if they stay open."""
    opened = 0
    for count, line in enumerate(lines, start=1):
        opened += line.count("(") + line.count("[") - line.count(")") - line.count("]")
        if opened <= 0:
            return count
    return 1


def best_lines(code: str, query: str, count: int, head: range = range(1)) -> list[int]:
    r"""Return the positions of up to `count` lines from 0, the best first.

    The first line of the head comes first, because it names the definition. The others contain the most terms
    of the query; a term counts less if many lines contain it. Among equal lines, earlier ones win. Lines of the head,
    empty lines, and lines that are nearly equal to a chosen one never count.

    >>> best_lines("def load(path):\n    check(path)\n\n    with open(path) as file:\n        return file", "open", 3)
    [0, 3, 1]
    """
    lines = code.split("\n")
    wanted = set(query_terms(query))
    able = [at for at, line in enumerate(lines) if at not in head and any(map(str.isalnum, line))]
    head_terms, *others = terms_of_each(
        [" ".join(lines[head.start : head.stop]), *[lines[position] for position in able]]
    )
    terms = dict(zip(able, others, strict=True))
    weights = dict(zip(able, _weights(others, wanted), strict=True))
    chosen = {head.start: head_terms}
    for position in sorted(able, key=lambda position: (-weights[position], position)):
        if len(chosen) >= count:
            break
        if position < head.start and not weights[position]:  # An annotation.
            continue
        if not any(_alike(terms[position], other) for other in chosen.values()):
            chosen[position] = terms[position]
    return list(chosen)


def _alike(first: AbstractSet[str], second: AbstractSet[str]) -> bool:
    return bool(first) and len(first & second) >= _ALIKE * len(first | second)


def marker(query: str, mode: str, *, is_pattern: bool = False, ignore_case: bool = False) -> Marker:
    """Return what finds start and end of each match in a line: the exact text in mode "exact", else words.

    >>> marker("Lock", "exact")("lock, Locks"), marker("l.", "exact", is_pattern=True)("lock")
    ([(6, 10)], [(0, 2)])
    """
    if mode == "exact" and query:
        wanted = query if is_pattern else query.split("\n")[0]
        exact = TextPattern(wanted, is_pattern=is_pattern, ignore_case=ignore_case)
        return lambda line: [match.span() for match in exact.finditer(line)]
    # In mode "similar", the query is a path and a line.
    terms = frozenset() if mode == "similar" else frozenset(query_terms(query))
    return lambda line: marks(line, terms)


def marks(line: str, terms: AbstractSet[str]) -> list[tuple[int, int]]:
    """Return start and end of the words of a line that have one of some terms, as `query_terms` returns them.

    A part of an identifier is marked alone. Words are compared as the keyword index compares them, so inflections and
    abbreviations match.

    >>> from codesearch.text.terms import query_terms
    >>> line = "def parse_ints(texts): return intList"
    >>> [line[start:end] for start, end in marks(line, set(query_terms("parsing an integer")))]
    ['parse', 'ints', 'int']
    """
    found: list[tuple[int, int]] = []
    spans = subtoken_spans(line) if terms else []
    for (start, end), word in zip(
        spans, terms_of_each([line[start:end] for start, end in spans]), strict=True
    ):
        if terms.isdisjoint(word):
            continue
        if found and found[-1][1] == start:
            start = found.pop()[0]
        found.append((start, end))
    return found


def tokens_of(code: str, language: str) -> list[tuple[Any, str]]:
    """Return the tokens of some code; all of it is one text if it is long or no lexer keeps its lines."""
    from pygments.lexers import get_lexer_by_name
    from pygments.token import Token
    from pygments.util import ClassNotFound

    # A lexer replaces other ends of lines by "\n".
    if len(code) > MAX_COLOURED or "\r" in code or "\ufeff" in code:
        return [(Token.Text, code)]
    record = record_of(language)
    name = record.lexer or language
    if record.is_markup:  # A hit in a page is a part of its scripts.
        name = "html" if code.lstrip().startswith("<") else "typescript"
    try:
        # A part of a PHP file may have no opening tag.
        lexer = get_lexer_by_name(name, startinline="<?" not in code, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return [(Token.Text, code)]
    return list(lexer.get_tokens(code))
