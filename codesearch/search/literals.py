"""A query that stands literally in the sources, as a string or in a comment -> the definitions around it.

Text in double quotes is always looked for. Other queries need four words. Four or five words in lower case must be a
whole string: "delete a directory recursively" asks for a function, not for a comment with these words. Keywords propose
files, and the text is verified in them. In a query of ordinary words, only documents with all of its terms are
proposed. Those are few, so most queries read no file. White space, comment marks and quotes between two words may
differ. Case may differ only if the text is in quotes and stands nowhere in the same case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from codesearch.analysis.terms import STOP_WORDS, terms_of
from codesearch.index.snapshot import Snapshot
from codesearch.index.source import read_source
from codesearch.search.lexical import LexicalScorer
from codesearch.search.lookup import nearest
from codesearch.segments.reader import SegmentReader
from codesearch.segments.store import FileRecord

_FEWEST_WORDS, _ENOUGH_WORDS, _MOST_CHARS = 4, 6, 1_000
_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
_BETWEEN = "\"'`+\\#*/.;- \t\n\r"
"""What may stand between two words: white space, comment marks, and the ends of two strings."""
_MESSAGE = re.compile(r"[:;()\[\]{}<>%$#@*=!|\\`]|(?<!\w)'|'(?!\w)|\.$")
"""What messages and comments have, but questions and keywords seldom."""
_QUESTION = re.compile(r"(?:how|what|where|which|who|why)\b", re.IGNORECASE)
_QUOTES = (b'"', b"'", b"`")
_MOST_PLACES = 20
"""In one file."""


class Limits(NamedTuple):
    """How many documents are proposed, and how much of their files is read."""

    documents: int
    files: int
    bytes: int


_LIMITS = {
    "quoted": Limits(2_000, 200, 20_000_000),
    "message": Limits(2_000, 200, 20_000_000),
    "words": Limits(20, 20, 2_000_000),
    "few words": Limits(4, 4, 1_000_000),
}
"""Form of a text -> limits. For "quoted" and "message", documents without some of the terms are proposed too.

For the others, nothing is verified if more documents have all terms.
"""


@dataclass(frozen=True, slots=True)
class Literal:
    """A text to look for.

    Attributes:
        words: its words without what may stand between them.
        form: "quoted", "message" (it has characters of messages), "words", or "few words", which look like keywords.
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
        between = b"[" + re.escape(_BETWEEN.encode()) + b"]++"
        return re.compile(between.join(re.escape(word.lower()) for word in self.words))


def literal_of(query: str) -> Literal | None:
    """Return the text that a query may quote, or None.

    >>> literal_of('where is "refused by peer" raised').words, literal_of("parse a file")
    ([b'refused', b'by', b'peer'], None)
    """
    if len(query) > _MOST_CHARS:
        return None
    quoted = max((first or second for first, second in _QUOTED.findall(query)), key=len, default="")
    stripped = (word.strip(_BETWEEN).encode() for word in (quoted or query).split())
    words = [word for word in stripped if word]
    if quoted:
        return Literal(words, "quoted") if words else None
    if len(words) < _FEWEST_WORDS:
        return None
    if _MESSAGE.search(query):
        return Literal(words, "message")
    if _QUESTION.match(query):
        return None
    return Literal(words, "few words" if query.islower() and len(words) < _ENOUGH_WORDS else "words")


def literal_documents(
    literal: Literal | None,
    terms: Sequence[str],
    snapshot: Snapshot,
    lexical: LexicalScorer,
    allowed: NDArray[np.bool_] | None,
) -> list[int]:
    """Return the allowed documents around a text, or after it if no document is around it.

    If the text is in quotes and stands nowhere in the same case, case is ignored.
    """
    if literal is None or not terms:
        return []
    limits = _LIMITS[literal.form]
    proposed = _passing(lexical.with_all(literal.terms), allowed)
    if literal.form in ("quoted", "message"):
        scores, _ = lexical.scores(terms)
        others = _passing(np.flatnonzero(scores > 0), allowed)
        proposed = np.concatenate([proposed, snapshot.best(others, scores[others], limits.documents)])
        proposed = proposed[snapshot.order(proposed, scores[proposed])]
    elif len(proposed) > limits.documents:
        return []
    found: dict[int, bool] = {}
    for base, segment, file in _files(snapshot, proposed[: limits.documents], limits):
        for number, same_case in _around_text(segment, file, literal):
            if allowed is None or allowed[base + number]:
                found[base + number] = same_case or found.get(base + number, False)
    exact = [doc_id for doc_id, same_case in found.items() if same_case]
    return exact or (list(found) if literal.form == "quoted" else [])


def _passing(doc_ids: NDArray[np.int64], allowed: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    return doc_ids if allowed is None else doc_ids[allowed[doc_ids]]


def _files(
    snapshot: Snapshot, doc_ids: NDArray[np.int64], limits: Limits
) -> Iterator[tuple[int, SegmentReader, FileRecord]]:
    """Yield (doc_id of the segment's first document, segment, file) of the first files of documents."""
    segments = list(snapshot.based_segments())
    left = limits.bytes
    for number in islice(dict.fromkeys(snapshot.file_numbers(doc_ids).tolist()), limits.files):
        base, segment = segments[number >> 32]
        file_id = number & 0xFFFFFFFF
        file = segment.store.files_of({file_id})[file_id]
        left -= file.size
        if left < 0:
            return
        yield base, segment, file


def _around_text(segment: SegmentReader, file: FileRecord, literal: Literal) -> Iterator[tuple[int, bool]]:
    """Yield the number of the innermost or next document at each place of a text in a file, and if case is the same."""
    read = read_source(segment, file)
    if read is None or read[1]:
        return
    lower = read[0].lower()
    if max(literal.words, key=len).lower() not in lower:
        return
    for match in islice(literal.pattern.finditer(lower), _MOST_PLACES):
        if literal.form == "few words" and not _is_string(lower, match):
            continue
        line = lower.count(b"\n", 0, match.start()) + 1
        if (number := nearest(segment.store.document_rows(file.first_doc, file.doc_count), line)) is not None:
            same_case = all(word in read[0][match.start() : match.end()] for word in literal.words)
            yield file.first_doc + number, same_case


def _is_string(source: bytes, match: re.Match[bytes]) -> bool:
    """Say whether a match is all between two equal quotes, but not between three, as documentation is."""
    start, end = match.span()
    mark = source[start - 1 : start]
    return mark in _QUOTES and source[end : end + 1] == mark != source[start - 2 : start - 1]
