"""Arrays of an index: files in NumPy's format, mapped into memory and read-only.

    rows.npy               ROW    [N] what filters, penalties and copies read of each document without the database
    passages.npy           uint32 [P, 11] document, first line, last line and signature (see `codesearch.text.terms`) of
                                  each passage, by document and line
    sources.npy            uint8  [S] the files of the segment, each compressed by zlib, one after the other
    sources_offsets.npy    int64  [F + 1] where each file begins; a file without code has no bytes

Only an index from a portable file with code has sources, because its folder is not on this machine. Their sizes and
digests are those in the database. `postings` has more arrays.

`numpy.save` does not notice when the device is full at its last write, so this module writes with Python's files. A
search over many indexes maps thousands of files, and a process may usually have 1,024 files open. Python's `mmap` keeps
a file open as long as its mapping, so on POSIX this module calls the C library. Windows has no such limit.
"""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO
from weakref import finalize

import numpy as np
from numpy.typing import DTypeLike, NDArray

from codesearch.errors import IndexCorruptError, unreadable
from codesearch.files import private
from codesearch.store.database import FileRecord
from codesearch.store.digest import content_digest

ROWS, PASSAGES = "rows.npy", "passages.npy"
SOURCES, OFFSETS = "sources.npy", "sources_offsets.npy"
NO_PASSAGES = np.empty((0, 11), np.uint32)
ROW = np.dtype(
    [("copy_key", "<i8"), ("shape_key", "<i8"), ("file_id", "<u4"), ("kind", "<u2"), ("flags", "<u2")]
    + [("start_line", "<u4"), ("last_line", "<u4")]
)
"""Fields of a `DocumentRow`, and its file. `kind` is a position in `codesearch.types.KINDS`."""
_MAX_HEADER = 256
_HEADER = re.compile(
    rb"""\x93NUMPY\x01\x00..                                                    # Magic, version, length of the header.
    \{'descr':\ (?:'([<>|][iuf][1248])'|(%s)),\                                 # A plain type, or that of rows.
    'fortran_order':\ False,\ 'shape':\ \((\d{1,15}),(?:\ (\d{1,15}))?\),\ \}\ *\n  # One or two dimensions."""
    % re.escape(repr(ROW.descr).encode()),
    re.DOTALL | re.VERBOSE,
)
"""What `create_array` writes: little of what NumPy can read, because the file may come from another machine."""
_FAILED = ctypes.c_void_p(-1).value


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
    dtype = np.dtype(header[1].decode()) if header[1] else ROW
    shape = tuple(map(int, filter(None, header.groups()[2:])))
    if len(content) != header.end() + math.prod(shape) * dtype.itemsize:
        raise IndexCorruptError(path, "its array has another size", root)
    return content[header.end() :].view(dtype).reshape(shape)


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


def map_file(path: Path) -> NDArray[np.uint8]:
    """Return the bytes of a file. They are unmapped when no array needs them."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if not size:  # An empty file cannot be mapped.
            return np.empty(0, np.uint8)
        if os.name == "nt":
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        address = _library().mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(), 0)
    if address == _FAILED:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(path))
    return np.asarray(_Mapping(address, size))


class _Mapping:
    """Owns mapped bytes; arrays over them keep it alive."""

    def __init__(self, address: int, size: int) -> None:
        shape, place = (size,), (address, True)
        self.__array_interface__ = {"version": 3, "typestr": "|u1", "shape": shape, "data": place}
        # Threads may still read at the end of the process.
        finalize(self, _library().munmap, address, size).atexit = False


@cache
def _library() -> Any:  # noqa: ANN401 - ctypes has no types for functions of a library.
    library = ctypes.CDLL(None, use_errno=True)
    library.mmap.restype = ctypes.c_void_p
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.argtypes = (pointer, size, number, number, number, ctypes.c_int64)
    library.munmap.argtypes = (pointer, size)
    return library
