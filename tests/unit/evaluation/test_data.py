"""Judgements, JSON lines in each compression and packs of source files, and errors for damaged ones."""

import gzip
import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from codesearch.errors import ConfigError, MissingExtraError
from codesearch.evaluation.data import (
    document_url,
    field,
    judged,
    read_annotations,
    read_jsonl,
    read_queries,
    unpack,
    url_path,
)

LINES = b'{"id": 1}\n{"id": "two"}\n'
ROW = {"repo": "o/n", "sha": "c0ffee", "path": "src/a.py", "language": "python", "text": "é = 1\r\n"}
SHA = "a" * 40
URL = f"https://github.com/o/n/blob/{SHA}/src/x.py#L3-L9"
HEAD = "Language,Query,GitHubUrl,Relevance,Notes\n"


def written(tmp_path: Path, text: str, name: str = "file.csv") -> Path:
    (tmp_path / name).write_bytes(text.encode())
    return tmp_path / name


def test_grades_of_several_annotators_are_averaged_and_case_does_not_matter(tmp_path):
    rows = f"Python,Sort List,{URL},3,\npython,sort  list,{URL},2,good\nPython,sort list,{URL}1,0,\n"
    assert read_annotations(written(tmp_path, HEAD + rows)) == {
        ("python", "sort list"): {URL: 2.5, f"{URL}1": 0}
    }


def test_queries_are_read_with_either_line_end_and_each_once(tmp_path):
    assert read_queries(written(tmp_path, "query\r\nsort a list\r\nread file\nsort a list\n")) == [
        "sort a list",
        "read file",
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (f"Python,q,{URL},many,", ":2: could not convert"),
        (f"Python,q,{URL},4,", ":2: relevance 4 is not within 0 and 3"),
        (f"Python,q,{URL},nan,", ":2: relevance nan is not within 0 and 3"),
        (f"Klingon,q,{URL},1,", ":2: language 'Klingon' is not known"),
        ("Python,q,https://example.org/x,1,", ":2: 'https://example.org/x' is not https://github.com/"),
        ("Python,q", ":2: could not convert"),
    ],
)
def test_an_invalid_row_is_named_by_its_line(tmp_path, row, reason):
    with pytest.raises(ConfigError, match="file.csv") as error:
        read_annotations(written(tmp_path, f"{HEAD}{row}\n"))
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a,b\n1,2\n", "no column Language, Query, GitHubUrl, Relevance"),
        (b"", "no column Language"),
        (b"\xff\xfe\x00", "not a CSV file in UTF-8"),
    ],
)
def test_a_file_without_judgements_is_a_one_line_error(tmp_path, content, reason):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(ConfigError, match="x.csv") as error:
        read_annotations(tmp_path / "x.csv")
    assert reason in str(error.value)


def test_a_missing_file_is_a_one_line_error(tmp_path):
    with pytest.raises(ConfigError, match="none.csv: No such file"):
        read_queries(tmp_path / "none.csv")


def test_the_smoke_suite_uses_names_instead_of_addresses(tmp_path):
    text = "Language,Query,Path,Name,Relevance\nGo,close,go/a.go,Reader.Close,3\n"
    assert read_annotations(written(tmp_path, text), "Path", "Name") == {
        ("go", "close"): {"go/a.go Reader.Close": 3}
    }


def test_an_address_is_converted_to_a_path_and_back():
    assert url_path(URL) == f"o/n/{SHA}/src/x.py"
    assert document_url(url_path(URL), 3, 9) == URL


def test_queries_without_a_relevant_document_are_left_out():
    assert judged({("go", "a"): {"x": 0.0}, ("go", "b"): {"x": 0.0, "y": 0.5}}) == {
        ("go", "b"): {"x": 0.0, "y": 0.5}
    }
    with pytest.raises(ConfigError, match="no query has a document of a grade above 0"):
        judged({("go", "a"): {"x": 0.0}})


def compressed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data)
    if suffix == ".zst":
        compressor = zstandard.ZstdCompressor()
        return compressor.compress(data[:10]) + compressor.compress(data[10:])
    return data


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_every_compression_gives_the_same_objects(tmp_path, suffix):
    path = tmp_path / f"rows.jsonl{suffix}"
    path.write_bytes(compressed(LINES, suffix))
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


def packed(folder: Path, *rows: Any) -> Path:
    pack = folder / "sources.jsonl.zst"
    text = "".join(json.dumps(row) + "\n" for row in rows)
    pack.write_bytes(zstandard.compress(text.encode()))
    return pack


def unpacked(pack: Path, tmp_path: Path) -> Path:
    unpack(pack, tmp_path / "tree", lambda *_: None)
    return tmp_path / "tree"


def test_files_are_written_byte_for_byte_below_their_commit(tmp_path):
    tree = unpacked(packed(tmp_path, ROW), tmp_path)
    assert (tree / "o/n/c0ffee/src/a.py").read_bytes() == "é = 1\r\n".encode()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({**ROW, "path": "../../x"}, ":1: path 'o/n/c0ffee/../../x' leads out"),
        ({**ROW, "path": "/etc/x"}, ":1: path '/etc/x' leads out"),
        ({"repo": "o/n"}, ":1: no field sha"),
    ],
)
def test_an_invalid_row_of_a_pack_is_refused(tmp_path, row, reason):
    with pytest.raises(ConfigError) as error:
        unpacked(packed(tmp_path, row), tmp_path)
    assert reason in str(error.value)
    assert list((tmp_path / "tree").iterdir()) == []


def test_a_pack_that_is_cut_short_is_refused(tmp_path):
    rows = (
        {**ROW, "path": f"{number}.py", "text": random.Random(number).randbytes(99).hex()}
        for number in range(999)
    )
    pack = packed(tmp_path, *rows)
    whole = pack.read_bytes()
    for length in (len(whole) - 200, 20):
        pack.write_bytes(whole[:length])
        with pytest.raises(ConfigError, match="get it again"):
            unpacked(pack, tmp_path)


def test_a_pack_without_zstandard_names_the_package(tmp_path, monkeypatch):
    pack = packed(tmp_path, ROW)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match="install 'zstandard>="):
        unpacked(pack, tmp_path)
