"""Two versions of a file -> the functions of the old one that the change touches."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from codesearch.config import ParseConfig
from codesearch.parsing.extract import extract
from codesearch.parsing.flags import file_flags
from codesearch.parsing.languages import LanguageSpec, language_of_path
from codesearch.text.terms import terms_of
from codesearch.types import GENERATED, STUB, TEST, VENDORED, Document
from training.corpus.filters import MIN_LINES

_CONFIG = ParseConfig(max_code_bytes=8_192)
_MAX_MEAN_LINE = 300
_MAX_CELLS = 4_000_000
"""Two texts with more pairs of lines are not compared: it takes too long, and such a change has many topics."""
_LEFT_OUT = GENERATED | TEST | VENDORED | STUB
_COMMENT = re.compile(rb"(?://|#(?!\s*(?:if|else|endif|define|include)|\[)|/?\*|--|;|%|\"\"\"|''')")
_NO_PRODUCT = frozenset(
    "example examples sample samples demo demos doc docs benchmark benchmarks bench fixture fixtures tutorial "
    "tutorials playground e2e mock mocks testdata contrib".split()
)
"""Folders whose functions are no part of a program."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a version of a file, and its distinct terms."""

    document: Document
    terms: frozenset[str]


def product_language(path: str) -> LanguageSpec | None:
    """Return the language of a file of code; None for other files, and for tests, examples and copies."""
    spec = language_of_path(path)
    folders = path.lower().split("/")[:-1]
    if spec is None or file_flags(path, b"") & _LEFT_OUT or not _NO_PRODUCT.isdisjoint(folders):
        return None
    return spec


def functions_of(source: bytes, path: str, spec: LanguageSpec) -> list[Function]:
    """Return the functions of a file that are no stubs and have three lines or more, in source order."""
    if len(source) > _MAX_MEAN_LINE * (source.count(b"\n") + 1):
        return []
    documents = extract(source, path, spec, _CONFIG).documents
    return [
        Function(
            document, frozenset(terms_of(f"{document.qualified_name} {document.docstring} {document.code}"))
        )
        for document in documents
        if document.kind in ("function", "method")
        and not document.flags & _LEFT_OUT
        and sum(bool(line.strip()) for line in document.code.splitlines()) >= MIN_LINES
    ]


def changed_lines(old: bytes, new: bytes) -> list[tuple[int, int, float]] | None:
    """Return (first, last, lines) of the old lines that a change replaced, and of the two around each insertion.

    White space and comments do not count. `lines` is the number of lines of the change. None if the versions differ too
    much to compare them.
    """
    before, after = _lines(old), _lines(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    before, after = before[head : len(before) - tail], after[head : len(after) - tail]
    if len(before) * len(after) > _MAX_CELLS:
        return None
    found = []
    for tag, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        lines = max(_count(before[first:last]), _count(after[start:end]))
        if tag != "equal" and lines:
            places = (head + first, head + last + 1) if first == last else (head + first + 1, head + last)
            found.append((*places, float(lines)))
    return found


def _lines(source: bytes) -> list[bytes]:
    return [b"".join(line.split()) for line in source.split(b"\n")]


def _count(lines: Sequence[bytes]) -> int:
    """Return the number of lines that are neither blank nor a comment."""
    return sum(bool(line) and not _COMMENT.match(line) for line in lines)


def touched(
    functions: Sequence[Function], spans: Sequence[tuple[int, int, float]]
) -> Iterator[tuple[Function, float]]:
    """Yield each function that is the innermost one around a part of a change, with the number of lines in it."""
    counts: defaultdict[int, float] = defaultdict(float)
    for first, last, lines in spans:
        pieces = [(first, last)] if last - first == 1 else [(line, line) for line in range(first, last + 1)]
        for start, end in pieces:
            around = [
                place
                for place, function in enumerate(functions)
                if function.document.start_line <= start and end <= function.document.end_line
            ]
            if around:
                counts[around[-1]] += lines / len(pieces)
    for place, lines in counts.items():
        yield functions[place], lines
