"""JSON lines in each compression, and errors for damaged files."""

import gzip

import pytest

from codesearch.errors import ConfigError
from codesearch.evaluation.jsonl import field, read_jsonl

LINES = b'{"id": 1}\n{"id": "two"}\n'


def packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data)
    if suffix == ".zst":
        zstandard = pytest.importorskip("zstandard")
        compressor = zstandard.ZstdCompressor()
        return compressor.compress(data[:10]) + compressor.compress(data[10:])
    return data


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_every_compression_gives_the_same_objects(tmp_path, suffix):
    path = tmp_path / f"rows.jsonl{suffix}"
    path.write_bytes(packed(LINES, suffix))
    assert list(read_jsonl(path)) == [(f"{path}:1", {"id": 1}), (f"{path}:2", {"id": "two"})]


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_damaged_file_is_one_clear_error(tmp_path, suffix):
    path = tmp_path / f"rows.jsonl{suffix}"
    path.write_bytes(b"no such packing")
    with pytest.raises(ConfigError, match=rf"rows\.jsonl{suffix}.*get it again"):
        list(read_jsonl(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": 1}\n{', r"rows:2: not JSON lines"),
        ("[1]\n", "rows:1: not an object"),
        ("\xff", "not JSON lines"),
    ],
)
def test_an_error_names_the_line(tmp_path, text, message):
    path = tmp_path / "rows"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=message):
        list(read_jsonl(path))


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(ConfigError, match="absent.jsonl is not there"):
        list(read_jsonl(tmp_path / "absent.jsonl"))


def test_the_first_existing_name_of_a_field_is_used():
    assert field("f:1", {"b": 2, "c": 3}, "a", "b", "c") == "2"
    assert field("f:1", {"tokens": ["sort", "it"]}, "tokens") == "sort it"
    with pytest.raises(ConfigError, match="f:1: no field a or b"):
        field("f:1", {"c": None}, "a", "b")
