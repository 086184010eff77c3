"""Read source files, and say whether they changed after they were indexed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord
from codesearch.treefiles import read_below

if TYPE_CHECKING:
    from codesearch.segments.reader import SegmentReader


def is_inside(path: str) -> bool:
    """Say whether a path, joined to a folder, stays in the folder.

    >>> [is_inside(path) for path in ("a/b.py", "a..b/c", "../b.py", "a/../../b.py", "/etc/passwd", "")]
    [True, True, False, False, False, False]
    """
    parts = path.replace(os.sep, "/").split("/")
    is_relative = not os.path.isabs(path) and not os.path.splitdrive(path)[0]
    return is_relative and "\0" not in path and not {"", ".", ".."} & set(parts)


def read_source(segment: SegmentReader, file: FileRecord) -> tuple[bytes, bool] | None:
    """Return a file's bytes and whether they differ from the indexed ones; None if a walk would not read it now.

    If size and time stamp are equal, the bytes count as equal. If the index was imported without sources, the bytes are
    those in the index, or b"" if it has no code.
    """
    if not segment.has_sources:
        stored = segment.sources
        return (stored.read(int(segment.rows.files[file.first_doc]), file) if stored else b""), False
    if not is_inside(file.path):
        return None
    try:
        source, seen = read_below(segment.root, file.path, segment.walk)
    except OSError:
        return None
    if (seen.st_size, seen.st_mtime_ns) == (file.size, file.mtime_ns):
        return source, False
    return source, content_digest(source) != file.digest


def cut_lines(source: bytes, first: int, last: int, *, start_byte: int | None) -> bytes:
    """Return the lines `first` to `last` of a file; a `start_byte` in the first line makes this faster."""
    if start_byte is None:
        return b"\n".join(source.split(b"\n")[first - 1 : last])
    start = source.rfind(b"\n", 0, start_byte) + 1
    end = start - 1
    for _ in range(first, last + 1):
        end = source.find(b"\n", end + 1)
        if end < 0:
            return source[start:]
    return source[start:end]
