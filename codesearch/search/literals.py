"""A query that stands literally in the sources, as a string or in a comment -> the definitions around it.

Text in double quotes is always looked for. Other queries need four words. Four or five words in lower case must be a
whole string: "delete a directory recursively" asks for a function, not for a comment with these words. Keywords propose
files, and the text is verified in them. In a query of ordinary words, only documents with all of its terms are
proposed. Those are few, so most queries read no file. White space, comment marks and quotes between two words may
differ. Case may differ only if the text is in quotes and stands nowhere in the same case.

With `SearchRequest.fixed`, the query is looked for exactly as it is, also inside of words; the ends of its lines may be
those of any system. All files are read, in several threads, that have the words between its first and its last one,
which may be parts of longer ones. If there is no time for all of them, those come first that have all its words.
"""

from __future__ import annotations

import codecs
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, groupby, islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.parsing.decoding import NOTEBOOK, decoded
from codesearch.processes import available_cores
from codesearch.search.filters import allowed_documents, passing_files
from codesearch.search.lexical import LexicalScorer
from codesearch.search.lookup import nearest
from codesearch.search.request import READ_S, Filters
from codesearch.store.database import NO_CODE, FileRecord
from codesearch.store.postings import LETTERS, words_of
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.store.source import is_inside, read_source
from codesearch.text.terms import STOP_WORDS, terms_of
from codesearch.treefiles import FolderReader

MOST_FILES, MOST_BYTES = 2_000, 64_000_000
"""In how many files `usages` looks at a name, and how much is read to find them."""
_READ_AT_ONCE, _MOST_READERS = 200, 8
"""Files that a thread reads before it looks at the time, and threads."""


class Proposed(NamedTuple):
    """A file of an index."""

    base: int  # doc_id of the first document of its segment.
    segment: SegmentReader
    file: FileRecord


def check_has_code(indexes: Sequence[IndexReader]) -> None:
    """Check that the sources of some index can be read."""
    if not any(index.manifest.has_sources or index.manifest.has_code for index in indexes):
        roots = ", ".join(index.manifest.root for index in indexes)
        raise IndexNotFoundError(f"{roots} has no code to look in", "export it with --with-code")


def proposed_files(
    snapshot: Snapshot, text: str, filters: Filters, *, others: bool = False
) -> list[Proposed]:
    """Return the live files that pass the filters and have all words of a text, by path and root.

    All `others` that pass and may have the text follow, those that were indexed last first. A text without words may be
    in every file.
    """
    words, inner = words_of(text.encode()), inner_folders(snapshot.roots)
    needed = words_of(text.strip(LETTERS).encode()) if others else words
    proposed, rest = list[Proposed](), list[Proposed]()
    for base, segment in snapshot.based_segments():
        first = able = segment.files_with(words)
        if others or not words:
            able = segment.files_with(needed) if needed else _readable(segment)
        if not filters.allow_all or inner[segment.root]:
            passes = passing_files(filters, segment, inner[segment.root])
            able = {file_id for file_id in able if passes[file_id]}
        files = segment.store.files_of(able)
        for file_id in sorted(able, reverse=True):
            (proposed if file_id in first else rest).append(Proposed(base, segment, files[file_id]))
    proposed.sort(key=lambda one: (one.file.path, one.segment.root))
    return proposed + rest[::-1]


def _readable(segment: SegmentReader) -> set[int]:
    """Return the file_ids of live files whose text was read for the index."""
    files = enumerate(segment.files)
    able = {number for number, file in files if file.doc_count or file.skipped in ("", NO_CODE)}
    return able.difference(segment.dead_files)


def read_with(
    has: Callable[[bytes], bool], files: Sequence[Proposed]
) -> tuple[list[tuple[Proposed, bytes, bool]], int]:
    """Return the first files with a text as they are now, and how many more were not read, because that is too much.

    Returns:
        Each file with its source and whether it changed after it was indexed; and a number of files.
    """
    found: list[tuple[Proposed, bytes, bool]] = []
    left = MOST_BYTES
    for count, one in enumerate(files):
        left -= one.file.size
        if len(found) == MOST_FILES or (count and left < 0):
            return found, len(files) - count
        source, stale = read_source(one.segment, one.file) or (b"", False)
        if has(source):
            found.append((one, source, stale))
    return found, 0


_FEWEST_WORDS, _ENOUGH_WORDS, MOST_CHARS = 4, 6, 1_000
_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
KEY = re.compile(r"\w+(?:-\w+){2,}")
"""A text such as the key of a translation, which is looked for as it is."""
_BETWEEN = "\"'`+\\#*/.;- \t\n\r"
"""What may stand between two words: white space, comment marks, and the ends of two strings."""
_MESSAGE = re.compile(r"[:;()\[\]{}<>%$#@*=!|\\`]|(?<!\w)'|'(?!\w)|\.$")
"""What messages and comments have, but questions and keywords rarely."""
_QUESTION = re.compile(r"(?:how|what|where|which|who|why)\b", re.IGNORECASE)
_QUOTES = (b'"', b"'", b"`")
_MOST_PLACES = 20
"""In one file, of a text that a query may quote."""


class Limits(NamedTuple):
    """How many documents are proposed, and how much of their files is read."""

    documents: int
    files: int
    bytes: int


_LIMITS = {
    "quoted": Limits(2_000, 200, 20_000_000),
    "message": Limits(400, 50, 5_000_000),
    "words": Limits(20, 20, 2_000_000),
    "few words": Limits(4, 4, 1_000_000),
}
"""Form of a text -> limits. For "words" and "few words", nothing is verified if more documents have all terms.

For the others, documents without some of the terms are proposed too.
"""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text to look for, as its words without what may stand between them.

    Its form is "quoted", "message" (it has characters of messages), "words", or "few words", which look like keywords.
    """

    words: Sequence[bytes]
    form: str

    @property
    def terms(self) -> list[str]:
        """Return the terms that a document with it has."""
        found = terms_of(b" ".join(self.words).decode())
        return sorted(found - STOP_WORDS or found)

    @property
    def pattern(self) -> re.Pattern[bytes]:
        """Return what matches it in a text in lower case."""
        # Possessive quantifiers and atomic groups try nothing twice, so a hostile text costs little.
        between = b"[%b]++(?:[bfru]{1,2}[\"'][\"'\\s]*+)?+" % re.escape(_BETWEEN.encode())
        return re.compile(between.join(re.escape(word.lower()) for word in self.words))

    def found_in(self, source: bytes) -> Iterator[tuple[int, bool]]:
        """Yield the place of each match in a source, and whether case is the same."""
        lower = source.lower()
        if max(self.words, key=len, default=b"").lower() not in lower:
            return
        for match in self.pattern.finditer(lower):
            text = source[match.start() : match.end()]
            if self.form != "few words" or _is_string(lower, match):
                yield match.start(), all(word in text for word in self.words)


def literals_of(query: str) -> list[Literal]:
    """Return the texts that a query may quote, the first one to look for first.

    >>> [text.words for text in literals_of('where is "refused by peer" raised')], literals_of("parse a file")
    ([[b'refused', b'by', b'peer']], [])
    >>> literals_of("user-has-no-access")
    [Literal(words=[b'user-has-no-access'], form='quoted')]
    """
    if len(query) > MOST_CHARS:
        return []
    if KEY.fullmatch(query.strip()):
        return [Literal(_words(query), "quoted")]
    quoted = max((first or second for first, second in _QUOTED.findall(query)), key=len, default="")
    words, inside, is_question = _words(query), _words(quoted), _QUESTION.match(query)
    found = []
    if len(words) >= _FEWEST_WORDS and words != inside and not (is_question and quoted):
        if _MESSAGE.search(query) or quoted:
            found.append(Literal(words, "message"))
        elif not is_question:
            is_short = query.islower() and len(words) < _ENOUGH_WORDS
            return [Literal(words, "few words" if is_short else "words")]
    if inside:
        found.append(Literal(inside, "quoted"))
    return found


def _words(text: str) -> list[bytes]:
    words = (word.strip(_BETWEEN) for word in text.split())
    return [word.encode("utf-8", "replace") for word in words if word]


def literal_documents(
    literals: Sequence[Literal],
    terms: Sequence[str],
    snapshot: Snapshot,
    lexical: LexicalScorer,
    allowed: NDArray[np.bool_] | None,
) -> dict[int, int]:
    """Return the allowed documents around the first text that is found, or after it, each with its first line there.

    If a text in quotes stands nowhere in the same case, case is ignored.
    """
    if not literals or not terms:
        return {}
    best = np.empty(0, np.int64)
    if literals[0].form in ("quoted", "message"):
        scores, _, _ = lexical.scores(terms)
        best = _passing(np.flatnonzero(scores > 0), allowed)
        best = snapshot.best(best, scores[best], _LIMITS["quoted"].documents)
        best = best[snapshot.order(best, scores[best])]
    for literal in literals:
        limits = _LIMITS[literal.form]
        proposed = _passing(lexical.with_all(literal.terms), allowed)
        if not len(best) and len(proposed) > limits.documents:
            continue
        found, same = dict[int, int](), dict[int, int]()
        proposed = np.concatenate([proposed[: limits.documents], best])[: limits.documents]
        for file in _files(snapshot, proposed, limits):
            for doc_id, line, same_case in islice(_around_text(file, literal), _MOST_PLACES):
                if allowed is None or allowed[doc_id]:
                    (same if same_case else found).setdefault(doc_id, line)
        if same:
            return same
        if found and literal.form == "quoted":
            return found
    return {}


class ExactText(NamedTuple):
    """Where a text stands."""

    doc_ids: list[int]  # The innermost documents around it, ascending.
    outside: list[tuple[str, str, int]]  # Where no document is around it: root, path and line.
    lines: int  # Number of lines where it begins.
    files: int
    unread_files: int  # How many more files may have it and were not read, because there was no time.


_OTHER_BYTES = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""How a source begins in which ASCII has other bytes. One is also the beginning of UTF-32 in the other order."""
NOWHERE = ExactText([], [], 0, 0, 0)


def documents_with(text: str, snapshot: Snapshot, filters: Filters, seconds: float = READ_S) -> ExactText:
    """Return the documents around each place of a text, and the places outside of documents.

    After some seconds no more files are read.
    """
    check_has_code(snapshot.indexes)
    if not text.strip() or len(text) > MOST_CHARS:
        reason = f"has more than {MOST_CHARS:,} characters" if text.strip() else "is empty"
        raise ConfigError(f"the text {reason}", "give a text with a few words")
    allowed = allowed_documents(filters, snapshot)
    files = proposed_files(snapshot, text, filters, others=True)
    read, unread = read_all(files, *exact_text(text), seconds)
    lines_of: Counter[int] = Counter()
    files_with: set[int] = set()
    outside: list[tuple[str, str, int]] = []
    for number, (one, lines) in enumerate(read):
        spans = one.segment.store.spans(one.file)
        for line in lines:
            place = around(spans, line)
            doc_id = None if place is None else one.base + one.file.first_doc + place
            if doc_id is None:
                if filters.kinds:
                    continue
                outside.append((one.segment.root, one.file.path, line))
            elif allowed is None or allowed[doc_id]:
                lines_of[doc_id] += 1
            else:
                continue
            files_with.add(number)
    return ExactText(sorted(lines_of), outside, lines_of.total() + len(outside), len(files_with), unread)


def around(spans: Sequence[tuple[int, int]], line: int) -> int | None:
    """Return the position of the innermost span of lines around a line; they are in the order of the source."""
    begun = bisect_right(spans, line, key=itemgetter(0))
    return next((at for at in reversed(range(begun)) if spans[at][1] >= line), None)


LinesIn = Callable[[bytes], list[int]]
"""Takes a source and returns the lines where something begins, each once."""


def exact_text(text: str) -> tuple[bytes, LinesIn]:
    """Return a part of a text that is in one line, and what finds all of it."""
    wanted = text.replace("\r\n", "\n").encode("utf-8", "surrogateescape")
    return max(wanted.split(b"\n"), key=len), partial(_lines_with, wanted)


def read_all(
    files: Sequence[Proposed], probe: bytes, lines_in: LinesIn, seconds: float = READ_S
) -> tuple[list[tuple[Proposed, list[int]]], int]:
    """Return the files with a text and its lines, and how many files were not read in time.

    Only a file that has the bytes of `probe` can have the text.
    """
    from concurrent.futures import ThreadPoolExecutor  # Most queries read no files.

    parts = [files[first : first + _READ_AT_ONCE] for first in range(0, len(files), _READ_AT_ONCE)]
    until = time.monotonic() + seconds
    found: list[tuple[Proposed, list[int]]] = []
    unread = 0
    with ThreadPoolExecutor(min(available_cores() + 2, _MOST_READERS)) as pool:
        for part, read in zip(
            parts, pool.map(partial(_read_part, probe, lines_in, until), parts), strict=True
        ):
            found += read or ()
            unread += len(part) if read is None else 0
    return found, unread


def _read_part(
    probe: bytes, lines_in: LinesIn, until: float, files: Sequence[Proposed]
) -> list[tuple[Proposed, list[int]]] | None:
    """Return the files with a text and its lines; None after the time `until`."""
    if time.monotonic() > until:
        return None
    found: list[tuple[Proposed, list[int]]] = []
    for segment, own in groupby(files, key=lambda one: one.segment):
        with closing(FolderReader(segment.root, segment.walk)) as reader:
            for one in own:
                source = _source_with(probe, one, reader)
                if source and (lines := lines_in(source)):
                    found.append((one, lines))
    return found


def _source_with(probe: bytes, one: Proposed, reader: FolderReader) -> bytes:
    """Return the source of a file, or b"" if a text is surely not in it: most bytes need not be decoded for that."""
    if not one.segment.has_sources:
        return (read_source(one.segment, one.file) or (b"",))[0]
    content = b""
    with suppress(OSError):  # It is gone.
        content = reader.read(one.file.path) if is_inside(one.file.path) else b""
    is_other = content.startswith(_OTHER_BYTES) or (not probe.isascii() and not content.isascii())
    if probe in content or is_other or one.file.path.lower().endswith(NOTEBOOK):
        return decoded(content, one.file.path)
    return b""


def _lines_with(wanted: bytes, source: bytes) -> list[int]:
    """Return the lines where a text begins, each once; the ends of the lines of a source may be CRLF."""
    if inside := wanted.count(b"\n"):
        source = source.replace(b"\r\n", b"\n")
    begun = accumulate(part.count(b"\n") + inside for part in source.split(wanted)[:-1])
    return list(dict.fromkeys(count - inside + 1 for count in begun))


def _passing(doc_ids: NDArray[np.int64], allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    return doc_ids if allowed is None else doc_ids[allowed[doc_ids]]


def _files(snapshot: Snapshot, doc_ids: NDArray[np.int64], limits: Limits) -> Iterator[Proposed]:
    """Yield the first files of documents."""
    segments = list(snapshot.based_segments())
    left = limits.bytes
    for number in islice(dict.fromkeys(snapshot.rows(doc_ids)["file_id"].tolist()), limits.files):
        base, segment = segments[number >> 32]
        file_id = number & 0xFFFFFFFF
        file = segment.store.files_of({file_id})[file_id]
        left -= file.size
        if left < 0:
            return
        yield Proposed(base, segment, file)


def _around_text(one: Proposed, literal: Literal) -> Iterator[tuple[int, int, bool]]:
    """Yield the innermost or next document at each place of a text in a file, the line, and if case is the same."""
    read = read_source(one.segment, one.file)
    if read is None or read[1]:
        return
    rows = one.segment.store.document_rows(one.file)
    own = [row._replace(last_line=row.end_line) for row in rows]  # Without their members.
    for place, same_case in literal.found_in(read[0]):
        line = read[0].count(b"\n", 0, place) + 1
        if (number := nearest(own, line)) is not None:
            yield one.base + one.file.first_doc + number, line, same_case


def _is_string(source: bytes, match: re.Match[bytes]) -> bool:
    """Say whether a match is all between two equal quotes, but not between three, as documentation is."""
    start, end = match.span()
    mark = source[start - 1 : start]
    return mark in _QUOTES and source[end : end + 1] == mark != source[start - 2 : start - 1]
