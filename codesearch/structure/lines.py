"""An exact text, or a regular expression -> every line that has it, with the definition around it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter

from codesearch.errors import ConfigError
from codesearch.parsing.flags import is_beside, is_test
from codesearch.search.exact import (
    Proposed,
    check_has_code,
    check_text,
    exact_text,
    lines_in_documents,
    proposed_files,
    read_all,
)
from codesearch.search.patterns import TextPattern
from codesearch.search.request import READ_S, Filters
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import read_source
from codesearch.structure.meaning import SourceFile
from codesearch.structure.usages import Usage, usage_at

_OPERATORS = re.compile(r"[][|*+?^$\\(){}.]")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with a text, source code before tests and other code, then by path.

    The counts are of all lines; `counts` has those of each language, root, and kind of the definition around the line.
    """

    text: str
    is_pattern: bool
    lines: tuple[Usage, ...]
    line_count: int
    file_count: int
    counts: dict[str, dict[str, int]]
    unread_files: int


def find_lines(
    indexes: Sequence[IndexReader],
    text: str,
    filters: Filters,
    *,
    limit: int,
    is_pattern: bool | None = None,
    ignore_case: bool = False,
    seconds: float = READ_S,
) -> Lines:
    """Return the first lines with a text, or those that it matches as a regular expression.

    If `is_pattern` is None, it is one if it stands nowhere. After some seconds no more files are read.

    Raises:
        ConfigError: the text is empty, too long or no regular expression.
    """
    check_has_code(indexes)
    check_text(text)
    snapshot, pattern = Snapshot(indexes), None
    if is_pattern or ignore_case:
        pattern = TextPattern(text, is_pattern=bool(is_pattern), ignore_case=ignore_case).of_bytes()
    else:
        files = proposed_files(snapshot, text, filters, others=True)
        read, unread = read_all(files, *exact_text(text), seconds)
        if is_pattern is None and not read and _OPERATORS.search(text):
            with suppress(ConfigError):
                pattern, is_pattern = TextPattern(text, is_pattern=True).of_bytes(), True
    if pattern:
        files = proposed_files(snapshot, "", filters, others=True)
        read, unread = read_all(files, b"", partial(_matching, pattern), seconds)
    read.sort(key=_order)
    lines = list(lines_in_documents(read, filters))
    shown = TextPattern(text, is_pattern=bool(is_pattern), ignore_case=ignore_case)
    usages: list[Usage] = []
    for proposed, of_file in groupby(lines[:limit], key=attrgetter("file")):
        if source := read_source(proposed.segment, proposed.file):
            file = SourceFile(proposed, *source)
            usages += [usage_at(file, _position(file, line.number, shown), line.number) for line in of_file]
    counts = {
        "lang": Counter(line.file.file.language for line in lines),
        "kind": Counter(line.kind for line in lines if line.kind),
        "root": Counter(line.file.segment.root for line in lines),
    }
    count = len(list(groupby(lines, key=attrgetter("file"))))
    numbers = {name: dict(counted) for name, counted in counts.items()}
    return Lines(text, bool(is_pattern), tuple(usages), len(lines), count, numbers, unread)


def _matching(pattern: TextPattern, source: bytes) -> list[int]:
    """Return the lines where a pattern matches: in one line, or only if there are none of these, over several."""
    line, before, lines, is_longer = 1, 0, dict[int, None](), False
    for match in pattern.finditer(source):
        line, before = line + source.count(b"\n", before, match.start()), match.start()
        lines[line] = None
        is_longer |= b"\n" in match[0]
    texts = source.split(b"\n") if is_longer else ()
    return [at for at, text in enumerate(texts, start=1) if any(pattern.finditer(text))] or list(lines)


def _order(read: tuple[Proposed, list[int]]) -> tuple[bool, str, str]:
    """Order source code before tests and examples."""
    _, segment, file = read[0]
    return is_test(file.path) or is_beside(file.path), file.path, segment.root


def _position(file: SourceFile, line: int, pattern: TextPattern) -> int:
    """Return where a match begins in a line, or where the line begins."""
    start = (*file.line_starts, len(file.source))[line - 1]
    first = pattern.first(file.source, start, max(file.source.find("\n", start), start))
    return start if first is None else first
