"""An exact text, or a regular expression -> every line that has it, with the definition around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import itemgetter

from codesearch.errors import ConfigError
from codesearch.parsing.flags import is_beside, is_test
from codesearch.search.literals import (
    MOST_CHARS,
    Proposed,
    check_has_code,
    exact_text,
    proposed_files,
    read_all,
)
from codesearch.search.lookup import innermost
from codesearch.search.request import Filters
from codesearch.store.segments import IndexReader
from codesearch.store.snapshot import Snapshot
from codesearch.store.source import read_source
from codesearch.structure.meaning import SourceFile
from codesearch.structure.usages import Usage, usage_at

_OPERATORS = re.compile(r"[][|*+?^$\\(){}.]")


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines with a text, source code before tests and other code, then by path; `line_count` counts all of them."""

    text: str
    is_pattern: bool
    lines: tuple[Usage, ...]
    line_count: int
    file_count: int
    unread_files: int


def find_lines(indexes: Sequence[IndexReader], text: str, filters: Filters, *, limit: int) -> Lines:
    """Return the first lines with a text; if it stands nowhere, those that it matches as a regular expression.

    Raises:
        ConfigError: the text is empty or too long.
    """
    check_has_code(indexes)
    if not text.strip() or len(text) > MOST_CHARS:
        reason = f"has more than {MOST_CHARS:,} characters" if text.strip() else "is empty"
        raise ConfigError(f"the text {reason}", "give a text with a few words")
    snapshot = Snapshot(indexes)
    files = proposed_files(snapshot, text, filters, others=True)
    read, unread = read_all(files, *exact_text(text))
    pattern = None if read or not _OPERATORS.search(text) else _compiled(text)
    if pattern:
        files = proposed_files(snapshot, "", filters, others=True)
        read, unread = read_all(files, b"", partial(_matching, pattern))
    places = [(one, line) for one, lines in read for line in lines if _is_wanted(one, line, filters)]
    places.sort(key=_order)
    found = list[Usage]()
    for one, lines in groupby(places[:limit], key=itemgetter(0)):
        if source := read_source(one.segment, one.file):
            file = SourceFile(one, *source)
            found += [usage_at(file, _position(file, line, text), line) for _, line in lines]
    count = len({(one.segment.root, one.file.path) for one, _ in places})
    return Lines(text, pattern is not None, tuple(found), len(places), count, unread)


def _compiled(text: str) -> re.Pattern[bytes] | None:
    with suppress(re.error):
        return re.compile(text.encode("utf-8", "surrogateescape"), re.MULTILINE)
    return None


def _matching(pattern: re.Pattern[bytes], source: bytes) -> list[int]:
    line, before, lines = 1, 0, dict[int, None]()
    for match in pattern.finditer(source):
        line, before = line + source.count(b"\n", before, match.start()), match.start()
        lines[line] = None
    return list(lines)


def _is_wanted(one: Proposed, line: int, filters: Filters) -> bool:
    """Say whether the definition around a line is of a wanted kind."""
    if not filters.kinds:
        return True
    rows = one.segment.store.document_rows(one.file)
    inside = innermost(rows, line)
    return inside is not None and rows[inside].kind in filters.kinds


def _order(place: tuple[Proposed, int]) -> tuple[bool, str, str, int]:
    """Order source code before tests and examples."""
    (one, line), path = place, place[0].file.path
    return is_test(path) or is_beside(path), path, one.segment.root, line


def _position(file: SourceFile, line: int, text: str) -> int:
    """Return where a text begins in a line, or where the line begins."""
    start = (*file.line_starts, len(file.source))[line - 1]
    return max(file.source.find(text.split("\n")[0], start, file.source.find("\n", start)), start)
