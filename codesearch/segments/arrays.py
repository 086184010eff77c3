"""Arrays of an index: files in NumPy's format, read by mapping.

`numpy.save` does not notice when the device is full at its last write, so this module writes with Python's files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import DTypeLike, NDArray

from codesearch.errors import IndexCorruptError


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write a one- or two-dimensional array.

    Raises:
        OSError: the file cannot be written.
    """
    with create_array(path, array.dtype, array.shape) as file:
        file.write(np.ascontiguousarray(array).data)


def create_array(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> BinaryIO:
    """Create the file of an array and write its header; the caller appends the data.

    Raises:
        OSError: the file cannot be written.
    """
    file = open(path, "wb")
    descr = np.lib.format.dtype_to_descr(np.dtype(dtype))
    np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
    return file


def load_array(path: Path, root: str) -> NDArray[Any]:
    """Map an array of an index.

    Raises:
        IndexCorruptError: the file is missing or not an array.
    """
    try:
        # Return a plain array, because slicing a memmap runs Python code and a query takes hundreds of slices.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        raise IndexCorruptError(path, str(error), root) from None
