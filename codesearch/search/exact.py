"""An exact text -> the definitions that it stands in; files that may have a text, and how they are read.

With `SearchRequest.fixed`, the query is looked for exactly as it is, also inside of words; the ends of its lines may be
those of any system. All files are read that have the words between its first and its last one, which may be parts of
longer ones. If there is no time for all of them, those come first that have all its words.
"""

from __future__ import annotations

import codecs
import ctypes
import marshal
import os
import sys
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, groupby, repeat
from operator import attrgetter
from typing import NamedTuple

from codesearch.errors import ConfigError, IndexNotFoundError
from codesearch.parsing.decoding import NOTEBOOK, decoded
from codesearch.search.filters import passing_files
from codesearch.search.request import READ_S, Filters
from codesearch.store.database import NO_CODE, FileRecord
from codesearch.store.postings import LETTERS, words_of
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.snapshot import Snapshot, inner_folders
from codesearch.store.source import is_inside, read_content, read_source
from codesearch.treefiles import read_in_folder
from codesearch.types import KINDS

MOST_CHARS = 1_000
"""A longer text is not looked for."""
MOST_FILES, MOST_BYTES = 2_000, 64_000_000
"""In how many files `usages` looks at a name, and how much is read to find them."""
_MANY_FILES, _OPENING_COST = 5_000, 20_000
"""A second process reads a half of more files. Opening one takes as long as reading so many bytes."""


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


def check_text(text: str) -> None:
    """Check that a text can be looked for."""
    if not text.strip() or len(text) > MOST_CHARS:
        reason = f"has more than {MOST_CHARS:,} characters" if text.strip() else "is empty"
        raise ConfigError(f"the text {reason}", "give a text with a few words")


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
    check_text(text)
    read, unread = read_all(proposed_files(snapshot, text, filters, others=True), *exact_text(text), seconds)
    lines = list(lines_in_documents(read, filters))
    doc_ids = {line.file.base + line.document for line in lines if line.document is not None}
    outside = [
        (line.file.segment.root, line.file.file.path, line.number) for line in lines if line.document is None
    ]
    files = len(list(groupby(lines, key=attrgetter("file"))))
    return ExactText(sorted(doc_ids), outside, len(lines), files, unread)


class TextLine(NamedTuple):
    """A line with a text, and the innermost document around it."""

    file: Proposed
    number: int
    document: int | None  # Its number in the segment; None if there is none.
    kind: str  # Of the document; "" if there is none.


def lines_in_documents(
    read: Iterable[tuple[Proposed, Sequence[int]]], filters: Filters
) -> Iterator[TextLine]:
    """Yield the lines of files in documents of the kinds of a filter."""
    for file, lines in read:
        first = file.file.first_doc
        rows = file.segment.rows[first : first + file.file.doc_count]
        starts, ends, kinds = (rows[name].tolist() for name in ("start_line", "last_line", "kind"))
        for number in lines:
            begun = bisect_right(starts, number)
            at = next((at for at in reversed(range(begun)) if ends[at] >= number), None)
            document, kind = (None, "") if at is None else (first + at, KINDS[kinds[at]])
            if not filters.kinds or kind in filters.kinds:
                yield TextLine(file, number, document, kind)


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
    read = partial(_read, probe, lines_in, time.monotonic() + seconds)
    if len(files) < _MANY_FILES or sys.platform != "linux" or threading.active_count() > 1:
        found, unread = read(files)
        return [(files[at], lines) for at, lines in found], unread
    # Threads would wait for each other at every system call.
    costs = list(accumulate(one.file.size + _OPENING_COST for one in files))
    half = bisect_right(costs, costs[-1] // 2)
    receiving, sending = os.pipe()
    if not (child := os.fork()):
        failed = True
        with suppress(BaseException), open(sending, "wb") as pipe:
            marshal.dump(read(files[half:]), pipe)
            failed = False
        os._exit(failed)
    os.close(sending)
    found, unread = read(files[:half])
    with open(receiving, "rb") as pipe:
        sent = pipe.read()
    more, left = read(files[half:]) if os.waitpid(child, 0)[1] else marshal.loads(sent)
    both = [*found, *((half + at, lines) for at, lines in more)]
    return [(files[at], lines) for at, lines in both], unread + left


def _read(
    probe: bytes, lines_in: LinesIn, until: float, files: Sequence[Proposed]
) -> tuple[list[tuple[int, list[int]]], int]:
    """Return the positions of files with a text, and its lines; and how many files were not read in time."""
    has_probe, has_other_letters = _finder(probe), not probe.isascii()
    found: list[tuple[int, list[int]]] = []
    for at, (one, content) in enumerate(_contents(files)):
        if time.monotonic() > until:
            return found, len(files) - at
        # Most bytes need not be decoded to know that a text is not in them.
        if (
            has_probe(content)
            or content.startswith(_OTHER_BYTES)
            or (has_other_letters and not content.isascii())
            or one.file.path.lower().endswith(NOTEBOOK)
        ) and (lines := lines_in(decoded(content, one.file.path))):
            found.append((at, lines))
    return found, 0


def _finder(probe: bytes) -> Callable[[bytes], bool]:
    """Return what says whether a source has some bytes. The C library takes half of Python's time for that."""
    if sys.platform != "linux":
        return lambda content: probe in content
    memmem, (pointer, size) = ctypes.CDLL(None).memmem, (ctypes.c_char_p, ctypes.c_size_t)
    memmem.restype, memmem.argtypes = ctypes.c_void_p, (pointer, size, pointer, size)
    return lambda content: memmem(content, len(content), probe, len(probe)) is not None


def _contents(files: Sequence[Proposed]) -> Iterator[tuple[Proposed, bytes]]:
    """Yield the bytes of each file, b"" if it is gone."""
    for (segment, folder), own in groupby(files, key=_folder_of):
        in_folder = list(own)
        contents: Iterable[bytes] = repeat(b"")
        if not segment.has_sources:
            contents = ((read_content(segment, one.file) or (b"",))[0] for one in in_folder)
        elif is_inside(f"{folder}a"):
            names = [one.file.path[len(folder) :] for one in in_folder]
            contents = read_in_folder(segment.root, folder, names, segment.walk)
        yield from zip(in_folder, contents, strict=False)


def _folder_of(one: Proposed) -> tuple[SegmentReader, str]:
    path = one.file.path
    return one.segment, path[: path.rfind("/") + 1]


def _lines_with(wanted: bytes, source: bytes) -> list[int]:
    """Return the lines where a text begins, each once; the ends of the lines of a source may be CRLF."""
    if inside := wanted.count(b"\n"):
        source = source.replace(b"\r\n", b"\n")
    begun = accumulate(part.count(b"\n") + inside for part in source.split(wanted)[:-1])
    return list(dict.fromkeys(count - inside + 1 for count in begun))
