"""Source files of a segment whose folder is not on this machine. Only a portable file with code has them.

sources.npy           uint8  [S] the compressed files, one after the other
sources_offsets.npy   int64  [F + 1] where each file begins; a file without code has no bytes

Each file is compressed by zlib. Its size and digest are those in the store.
"""

from __future__ import annotations

import shutil
import tempfile
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from codesearch.errors import IndexCorruptError
from codesearch.segments.arrays import create_array, load_array, save_array
from codesearch.segments.digest import content_digest
from codesearch.segments.store import FileRecord

SOURCES, OFFSETS = "sources.npy", "sources_offsets.npy"


def write_sources(folder: Path, files: Iterable[bytes]) -> None:
    """Write the source files of a segment in the order of their file_ids; b"" for a file without code."""
    offsets = [0]
    with tempfile.TemporaryFile(dir=folder) as scratch:
        for source in files:
            offsets.append(offsets[-1] + (scratch.write(zlib.compress(source)) if source else 0))
        scratch.seek(0)
        with create_array(folder / SOURCES, np.uint8, (offsets[-1],)) as file:
            shutil.copyfileobj(scratch, file)
    save_array(folder / OFFSETS, np.array(offsets, dtype=np.int64))


class SourceReader:
    """Maps the source files of a segment."""

    def __init__(self, segment: Path, root: str) -> None:
        self._path, self._root = segment / SOURCES, root
        self._bytes = load_array(self._path, root)
        self._offsets = load_array(segment / OFFSETS, root)

    def read(self, file_id: int, record: FileRecord) -> bytes:
        """Return the bytes of a file as they were indexed; b"" if the segment does not have them.

        Raises:
            IndexCorruptError: the stored bytes are not those that were indexed.
        """
        start, end = self._offsets[file_id : file_id + 2].tolist()
        if start == end:
            return b""
        try:  # Ask for no more than the recorded size, because a small stream can stand for gigabytes.
            source = zlib.decompressobj().decompress(self._bytes[start:end].tobytes(), record.size + 1)
        except zlib.error as error:
            raise IndexCorruptError(self._path, str(error), self._root) from None
        if content_digest(source) != record.digest:
            raise IndexCorruptError(self._path, f"{record.path} is damaged", self._root)
        return source
