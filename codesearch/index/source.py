"""Read source files, and say whether they changed after they were indexed."""

from __future__ import annotations

import os

from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord


def read_source(root: str, file: FileRecord) -> tuple[bytes, bool] | None:
    """Return a file's bytes and whether they differ from the indexed ones; None if it cannot be read.

    If size and time stamp are equal, the bytes count as equal.
    """
    try:
        with open(os.path.join(root, file.path), "rb") as opened:
            seen = os.fstat(opened.fileno())
            source = opened.read()
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
