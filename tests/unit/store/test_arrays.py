"""Arrays of an index are written completely, or the write is an error."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from codesearch.config import VectorConfig
from codesearch.errors import IndexCorruptError
from codesearch.store.arrays import load_array, save_array
from codesearch.store.vectors import build_graph, hnsw_available

FULL = Path("/dev/full")
needs_full_device = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(7, dtype=np.uint64),
        np.arange(12, dtype=np.uint16).reshape(3, 4)[:2],
        np.arange(12, dtype=np.uint16).reshape(3, 4)[:, 1:3],
        np.zeros(0, dtype=np.uint8),
    ],
)
def test_an_array_is_read_as_it_was_written(tmp_path, array):
    save_array(tmp_path / "a.npy", array)
    found = load_array(tmp_path / "a.npy", "/src")
    assert found.dtype == array.dtype and np.array_equal(found, array)
    assert np.array_equal(np.load(tmp_path / "a.npy"), array)


@needs_full_device
@pytest.mark.parametrize("count", [1, 100_000])
def test_a_full_device_is_an_error(count):
    with pytest.raises(OSError) as caught:
        save_array(FULL, np.arange(count))
    assert caught.value.errno == errno.ENOSPC


@needs_full_device
@pytest.mark.skipif(not hnsw_available(), reason="the extra `hnsw` is not installed")
def test_a_graph_on_a_full_device_is_an_error():
    with pytest.raises(OSError) as caught:
        build_graph(FULL, np.ones((10, 4), dtype=np.int8), np.ones(10, dtype=np.float32), VectorConfig())
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"text"])
def test_a_file_that_is_not_an_array_is_an_error(tmp_path, content):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(IndexCorruptError):
        load_array(tmp_path / "a.npy", "/src")
    os.unlink(tmp_path / "a.npy")
    with pytest.raises(IndexCorruptError, match="missing"):
        load_array(tmp_path / "a.npy", "/src")
