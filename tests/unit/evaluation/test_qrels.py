from pathlib import Path

import pytest

from codesearch.errors import ConfigError
from codesearch.evaluation.qrels import (
    document_url,
    judged,
    read_annotations,
    read_queries,
    url_path,
)

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
