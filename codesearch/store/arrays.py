"""Arrays of an index: files in NumPy's format, read by mapping.

    rows/kinds.npy         uint8   [N] position in `codesearch.types.KINDS`
    rows/files.npy         uint32  [N] file_id in the store
    rows/flags.npy         uint8   [N] `Document.flags`
    rows/copies.npy        int64   [N] `Document.copy_key`
    rows/shapes.npy        int64   [N] `Document.shape_key`
    sources.npy            uint8   [S] the files of the segment, each compressed by zlib, one after the other
    sources_offsets.npy    int64   [F + 1] where each file begins; a file without code has no bytes

Filters, penalties and copies read the rows without the store. Only an index from a portable file with code has sources,
because its folder is not on this machine. Their sizes and digests are those in the store. `postings` has more arrays.

`numpy.save` does not notice when the device is full at its last write, so this module writes with Python's files.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import private
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.digest import content_digest
from codesearch.store.mapping import map_file
from codesearch.types import KINDS

ROWS = "rows"
SOURCES, OFFSETS = "sources.npy", "sources_offsets.npy"
_MAX_HEADER = 256
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|][iuf][1248])', 'fortran_order': False, "
    rb"'shape': \((\d{1,15}),(?: (\d{1,15}))?\), \} *\n",
    re.DOTALL,
)
"""What `create_array` writes: little of what NumPy can read, because the file may come from another machine."""


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write a one- or two-dimensional array."""
    with create_array(path, values.dtype, values.shape) as file:
        file.write(np.ascontiguousarray(values).data)


def create_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> BinaryIO:
    """Create the file of an array and write its header; the caller appends the data."""
    file = open(path, "wb", opener=private)
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file


def load_array(path: Path, root: str) -> NDArray[Any]:
    """Map an array of an index."""
    try:
        content = map_file(path)
    except OSError as error:
        raise unreadable(path, error, root) from None
    header = _HEADER.match(content[:_MAX_HEADER].tobytes())
    if header is None:
        raise IndexCorruptError(path, "it is no array", root)
    dtype, shape = np.dtype(header[1].decode()), tuple(map(int, filter(None, header.groups()[1:])))
    if len(content) != header.end() + math.prod(shape) * dtype.itemsize:
        raise IndexCorruptError(path, "its array has another size", root)
    return content[header.end() :].view(dtype).reshape(shape)


class RowWriter:
    """Collects the numbers in doc_id order."""

    def __init__(self) -> None:
        self._kinds, self._files, self._flags = bytearray(), array("I"), bytearray()
        self._copies, self._shapes = array("q"), array("q")

    def add(self, file_id: int, rows: Sequence[DocumentRow]) -> None:
        """Add a file's documents."""
        self._kinds.extend(KINDS.index(row.kind) for row in rows)
        self._files.extend(repeat(file_id, len(rows)))
        self._flags.extend(row.flags for row in rows)
        self._copies.extend(row.copy_key for row in rows)
        self._shapes.extend(row.shape_key for row in rows)

    def write(self, segment: Path) -> None:
        """Write `rows/` to a segment's folder."""
        folder = segment / ROWS
        folder.mkdir(0o700)
        save_array(folder / "kinds.npy", np.asarray(self._kinds, dtype=np.uint8))
        save_array(folder / "files.npy", np.asarray(self._files, dtype=np.uint32))
        save_array(folder / "flags.npy", np.asarray(self._flags, dtype=np.uint8))
        save_array(folder / "copies.npy", np.asarray(self._copies, dtype=np.int64))
        save_array(folder / "shapes.npy", np.asarray(self._shapes, dtype=np.int64))


class RowReader:
    """Maps the numbers of a segment."""

    def __init__(self, segment: Path, root: str) -> None:
        self.kinds: NDArray[np.uint8] = load_array(segment / ROWS / "kinds.npy", root)
        self.files: NDArray[np.uint32] = load_array(segment / ROWS / "files.npy", root)
        self.flags: NDArray[np.uint8] = load_array(segment / ROWS / "flags.npy", root)
        self.copies: NDArray[np.int64] = load_array(segment / ROWS / "copies.npy", root)
        self.shapes: NDArray[np.int64] = load_array(segment / ROWS / "shapes.npy", root)


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
        """Return the bytes of a file as they were indexed; b"" if the segment does not have them."""
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
