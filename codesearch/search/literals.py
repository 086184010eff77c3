r"""What a query quotes from the sources -> the definitions around it, and the lines where it is.

**A text that stands in a string or a comment.** Text in double quotes is always looked for. Other queries need four
words. Four or five words in lower case must be a whole string: "delete a directory recursively" asks for a function,
not for a comment with these words. Keywords propose files, and the text is verified in them. In a query of ordinary
words, only documents with all of its terms are proposed. Those are few, so most queries read no file. White space,
comment marks and quotes between two words may differ. Case may differ only if the text is in quotes and stands nowhere
in the same case.

**A message that a program has printed.** Other words may stand around the text that it was made from, such as
`ValueError:` or the name of a program, and values in place of its holes: `%d`, `{name}`, `${name}`, or what is between
two strings (`"at " + path + ":"`). So each line or sentence of a string in the source is compared with the whole query;
a hole stands for up to eight words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from codesearch.search.exact import MOST_CHARS, Proposed
from codesearch.search.lexical import Pool
from codesearch.search.lookup import nearest
from codesearch.store.database import DocumentRow
from codesearch.store.snapshot import DocIds, Snapshot
from codesearch.store.source import read_source
from codesearch.text.terms import STOP_WORDS, query_terms, terms_of

_FEWEST_WORDS, _ENOUGH_WORDS = 4, 6
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


def quoted_documents(
    literals: Sequence[Literal], message: str, terms: Sequence[str], pool: Pool
) -> dict[int, int]:
    """Return the allowed documents with what a query quotes, each with the first line of it there.

    First all of the query is looked for, then the text that a message was made from, then what stands in quotes, which
    is a value in a message.
    """
    for literal in literals[:1]:
        if found := _around_literal(literal, terms, pool):
            return found
    if found := _with_message(message, pool):
        return found
    return _around_literal(literals[1], terms, pool) if len(literals) > 1 else {}


def _around_literal(literal: Literal, terms: Sequence[str], pool: Pool) -> dict[int, int]:
    """Return the documents around a text, or after it. If one in quotes is nowhere in this case, case is ignored."""
    if not terms:
        return {}
    limits, documents = _LIMITS[literal.form], pool.documents
    proposed = pool.passing(pool.lexical.with_all(literal.terms))
    if literal.form in ("quoted", "message"):
        best, scores = pool.best(terms, _LIMITS["quoted"].documents)
        best = best[documents.order(best, scores)]
        proposed = np.concatenate([proposed[: limits.documents], best])[: limits.documents]
    elif len(proposed) > limits.documents:
        return {}
    other_case, same_case = dict[int, int](), dict[int, int]()
    for file in _files(documents, proposed, limits):
        for doc_id, line, is_same in islice(_places(file, literal), _MOST_PLACES):
            if pool.allowed is None or pool.allowed[doc_id]:
                (same_case if is_same else other_case).setdefault(doc_id, line)
    return same_case or (other_case if literal.form == "quoted" else {})


def _files(snapshot: Snapshot, doc_ids: DocIds, limits: Limits) -> Iterator[Proposed]:
    """Yield the first files of documents, up to the limits."""
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


def _places(one: Proposed, literal: Literal) -> Iterator[tuple[int, int, bool]]:
    """Yield the innermost or next document at each place of a text in a file, the line, and if case is the same."""
    read = read_source(one.segment, one.file)
    if read is None or read[1]:
        return
    own = list[DocumentRow]()
    for place, same_case in literal.found_in(read[0]):
        if not own:  # Few files have the text.
            rows = one.segment.store.document_rows(one.file)
            own = [row._replace(last_line=row.end_line) for row in rows]  # Without their members.
        line = read[0].count(b"\n", 0, place) + 1
        if (number := nearest(own, line)) is not None:
            yield one.base + one.file.first_doc + number, line, same_case


def _is_string(source: bytes, match: re.Match[bytes]) -> bool:
    """Say whether a match is all between two equal quotes, but not between three, as documentation is."""
    start, end = match.span()
    mark = source[start - 1 : start]
    return mark in _QUOTES and source[end : end + 1] == mark != source[start - 2 : start - 1]


_LOOKS_SO = re.compile(r"\w:\s|\d|[A-Z]\w{1,100}(?:Error|Exception|Warning)\b|[\"'`][^\"'`]+[\"'`]")
_ASKS = re.compile(r"(?:how|what|where|which|who|why|when|is|are|can|does|do)\b|.*\?$", re.IGNORECASE)
_MOST_WORDS = 60
_FEWEST_FIXED, _FEWEST_PLAIN, _FEWEST_SAID = 3, 5, 2
"""The fewest words of a text, also if the query has no other sign of a message, and those that are no stop words."""
_PROPOSED, _MOST_DOCUMENTS = 40, 5
"""Documents that are read, and those that are found; a text in more of them says nothing about one."""
_HOLE = "\0"
_STRING = r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|`[^`]*+`)"
_PLUS = r"\s*(?:(?:[+.]|<<)\s*(?:[\w.()\[\]>-]{1,60}\s*(?:[+.]|<<))?)?\s*[bfru]?"
_TEXT = re.compile(f"{_STRING}(?:{_PLUS}{_STRING})*+")
_JOINED = re.compile(f"[\"'`]({_PLUS})[\"'`]")
_PLACEHOLDER = re.compile(r"%(?:\(\w+\))?[-+#.\d]*[hlzj]*[a-zA-Z]|[$#]?\{[^{}\n]{0,80}\}|\$\w+")
_SENTENCE_END = re.compile(r"\\[nrt]|(?<=[.!?])\s|\n")
_WORD = re.compile(rf"{_HOLE}|\w+")


def _with_message(message: str, pool: Pool) -> dict[int, int]:
    """Return the documents with the text that explains most words of a message, and the lines where it is."""
    words, looks_so = _WORD.findall(message.lower()), _LOOKS_SO.search(message)
    fewest = _FEWEST_FIXED if looks_so else _FEWEST_PLAIN
    is_message = looks_so or message[:1].isupper()
    if not is_message or not fewest <= len(words) <= _MOST_WORDS or _ASKS.match(message):
        return {}
    said = f" {' '.join(words)} "
    found: dict[int, int] = {}
    most = fewest
    for ref in pool.documents.refs(pool.best(query_terms(message), _PROPOSED)[0].tolist()):
        excerpt = ref.code()
        for size, line in texts_in(excerpt.code if excerpt else "", said):
            if size > most:
                found, most = {}, size
            if size == most:
                found.setdefault(ref.doc_id, ref.row.start_line + line)
    return found if len(found) <= _MOST_DOCUMENTS else {}


def texts_in(code: str, said: str) -> Iterator[tuple[int, int]]:
    """Yield for each text of some code that the words of a message have, how many they are, and its line from 0."""
    for match in _TEXT.finditer(code):
        text = _JOINED.sub(lambda between: _HOLE if re.search(r"\w\w|[+<]", between[1]) else "", match[0])
        for part in _SENTENCE_END.split(_PLACEHOLDER.sub(_HOLE, text)):
            words = _WORD.findall(part.lower())
            fixed = [word for word in words if word != _HOLE]
            is_long_enough = _FEWEST_FIXED <= len(fixed) <= _MOST_WORDS
            if not is_long_enough or sum(word not in STOP_WORDS for word in fixed) < _FEWEST_SAID:
                continue
            if not all(f" {word} " in said for word in fixed):
                continue
            pattern = "".join(r"(?:\w+ ){0,8}?" if word == _HOLE else f"{re.escape(word)} " for word in words)
            if explained := re.search(f" {pattern}", said):
                yield explained[0].count(" ") - 1, code.count("\n", 0, match.start())
