"""Read source files, say whether they changed after they were indexed, and cut the code of documents out of them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from codesearch.files import RACY_NS, stamp
from codesearch.languages import record_of
from codesearch.parsing.decoding import decoded
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.digest import content_digest
from codesearch.treefiles import read_below
from codesearch.types import Definition

if TYPE_CHECKING:
    from codesearch.store.segments import SegmentReader

_REMEMBERED = 10_000
"""Number of unchanged files that an open segment remembers."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The code of a document and the lines around it; `stale` says that its file changed after it was indexed."""

    code: str
    stale: bool = False
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class CodeSource(Protocol):
    """Where the code of documents of a root comes from."""

    @property
    def root(self) -> str: ...  # noqa: D102 - the indexed folder, or the name of an index without one.
    def excerpt(self, file: FileRecord, row: DocumentRow, context: int) -> Excerpt | None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Ref:
    """A definition in an index, and where its code comes from; `doc_id` is valid in the snapshot that made it."""

    doc_id: int
    source: CodeSource
    file: FileRecord
    row: DocumentRow

    @property
    def root(self) -> str:
        """The indexed folder, or the name of an index without one."""
        return self.source.root

    @property
    def path(self) -> str:
        """The file, relative to the root."""
        return self.file.path

    @property
    def place(self) -> str:
        """Its "path:line"."""
        return f"{self.file.path}:{self.row.start_line}"

    @property
    def qualifier(self) -> str:
        """What is before the name in the qualified name, with the separator."""
        return self.row.qualified_name[: len(self.row.qualified_name) - len(self.row.name)]

    @cached_property
    def owner(self) -> str:
        """The last name around it, or ""."""
        separator = record_of(self.file.language).separator
        return self.qualifier.removesuffix(separator).rpartition(separator)[2]

    @property
    def definition(self) -> Definition:
        """What the index says about it."""
        return self.row.of(self.file)

    def code(self, context: int = 0) -> Excerpt | None:
        """Return the code with `context` lines around it; None if it is gone."""
        return self.source.excerpt(self.file, self.row, context)


class SourceFiles:
    """Cuts the code of a segment's documents out of the source files, as they are now; reads each file once."""

    def __init__(self, segment: SegmentReader) -> None:
        self.root = segment.root
        self.segment = segment
        self._read: dict[str, tuple[bytes, bool] | None] = {}

    def excerpt(self, file: FileRecord, row: DocumentRow, context: int) -> Excerpt | None:
        """Return the code of a document with `context` lines around it; None if the file no longer exists."""
        if file.path not in self._read:
            self._read[file.path] = read_source(self.segment, file)
        if (read := self._read[file.path]) is None:
            return None
        source, stale = read
        code = cut_lines(source, row, by_line=stale)
        excerpt = Excerpt(code.decode("utf-8", "replace"), stale)
        if not context:
            return excerpt
        lines = source.decode("utf-8", "replace").split("\n")
        before = lines[max(0, row.start_line - 1 - context) : row.start_line - 1]
        return replace(
            excerpt, before=tuple(before), after=tuple(lines[row.end_line : row.end_line + context])
        )


def is_inside(path: str) -> bool:
    """Say whether a path, joined to a folder, stays in the folder.

    >>> [is_inside(path) for path in ("a/b.py", "a..b/c", "../b.py", "a/../../b.py", "/etc/passwd", "")]
    [True, True, False, False, False, False]
    """
    parts = path.replace(os.sep, "/").split("/")
    is_relative = not os.path.isabs(path) and not os.path.splitdrive(path)[0]
    return is_relative and "\0" not in path and not {"", ".", ".."} & set(parts)


def read_source(segment: SegmentReader, file: FileRecord) -> tuple[bytes, bool] | None:
    """Return what `read_content` returns, with the content as it is parsed and shown."""
    read = read_content(segment, file)
    return read and (decoded(read[0], file.path), read[1])


def read_content(segment: SegmentReader, file: FileRecord) -> tuple[bytes, bool] | None:
    """Return a file's bytes and whether they differ from the indexed ones; None if a walk would not read it now.

    If the index was imported without sources, the bytes are those in the index, or b"" if it has no code.
    """
    if not segment.has_sources:
        if segment.sources is None or not file.doc_count:  # A portable file has no files without documents.
            return b"", False
        return segment.sources.read(int(segment.rows["file_id"][file.first_doc]), file), False
    if not is_inside(file.path):
        return None
    try:
        source, status = read_below(segment.root, file.path, segment.walk)
    except OSError:
        return None
    seen = stamp(status)
    if segment.unchanged.get(file.path) == seen:
        return source, False
    is_stale = content_digest(source) != file.digest
    if not is_stale and time.time_ns() > max(seen[1:3]) + RACY_NS and len(segment.unchanged) < _REMEMBERED:
        segment.unchanged[file.path] = seen
    return source, is_stale


def cut_lines(source: bytes, row: DocumentRow, *, by_line: bool) -> bytes:
    """Return the lines of a document, found by their numbers or, in a file that did not change, faster by its bytes."""
    if by_line:
        return b"\n".join(source.split(b"\n")[row.start_line - 1 : row.end_line])
    start = source.rfind(b"\n", 0, row.start_byte) + 1
    end = source.find(b"\n", max(start, row.end_byte - 1))
    return source[start:] if end < 0 else source[start:end]
