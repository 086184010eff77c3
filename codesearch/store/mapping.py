"""A file -> its bytes, mapped into memory and read-only. The file does not stay open.

A search over many indexes maps thousands of files, and a process may usually have 1,024 files open. Python's `mmap`
keeps a file open as long as its mapping, so on POSIX this module calls the C library. Windows has no such limit.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

_FAILED = ctypes.c_void_p(-1).value


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
    library.mmap.argtypes = (
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int64,
    )
    library.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    return library
