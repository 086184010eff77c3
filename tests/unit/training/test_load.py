import dataclasses
import gzip
import json
import pickle
from collections import Counter

import pytest
import zstandard

from codesearch.errors import CodeSearchError
from tests.unit.training.conftest import write_rows
from training.__main__ import main
from training.corpus.load import load, load_corpus, write_loaded
from training.corpus.rows import CsnRow, Row, read_rows, to_line

SHA = "0123456789abcdef0123456789abcdef01234567"
PYTHON = 'def area(self, w):\n    """Compute the area.\n\n    In metres.\n    """\n    return w * self.h'
OFFICIAL = {
    "repo": "a/b",
    "path": "b/shape.py",
    "func_name": "Shape.area",
    "original_string": PYTHON,
    "language": "python",
    "code": PYTHON,
    "code_tokens": ["def", "area"],
    "docstring": "Compute the area.\n\n    In metres.",
    "docstring_tokens": ["Compute", "the", "area", "."],
    "sha": SHA,
    "url": f"https://github.com/a/b/blob/{SHA}/b/shape.py#L1-L6",
    "partition": "train",
}
HUGGING_FACE = {
    "repository_name": "a/b",
    "func_path_in_repository": "b/shape.py",
    "func_name": "Shape.area",
    "whole_func_string": PYTHON,
    "language": "python",
    "func_code_string": PYTHON,
    "func_code_tokens": ["def", "area"],
    "func_documentation_string": OFFICIAL["docstring"],
    "func_documentation_tokens": OFFICIAL["docstring_tokens"],
    "split_name": "train",
    "func_code_url": OFFICIAL["url"],
}
DEDUPE = {
    "nwo": "a/b",
    "sha": SHA,
    "path": "b/shape.py",
    "language": "python",
    "identifier": "Shape.area",
    "parameters": "(self, w)",
    "argument_list": "",
    "return_statement": "return w * self.h",
    "docstring": OFFICIAL["docstring"],
    "docstring_summary": "Compute the area.",
    "docstring_tokens": OFFICIAL["docstring_tokens"],
    "function": PYTHON,
    "function_tokens": ["def", "area"],
    "url": OFFICIAL["url"],
    "score": 0.5,
}
OWN = Row(
    "a/b", "b", "x.py", "A.f", "f", "python", "def f(a):\n    return a", "Add one to it.", "", "test", "u"
)


def write_gz(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode()))


def names(path):
    return [loaded.row.func_name for loaded in load(path)]


class Bomb:
    """Create a file when an unsafe unpickler loads this object."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_an_official_row_keeps_its_fields_and_loses_the_docstring_in_its_code(tmp_path):
    write_gz(tmp_path / "python/final/jsonl/train/python_train_0.jsonl.gz", [OFFICIAL])
    (loaded,) = load(tmp_path)
    row = loaded.row
    assert (row.repo, row.path, row.func_name, row.identifier) == ("a/b", "b/shape.py", "Shape.area", "area")
    assert (row.docstring, row.docstring_rest) == ("Compute the area.", "In metres.")
    assert row.code == "def area(self, w):\n    \n    return w * self.h"
    assert (row.language, row.partition, row.url) == ("python", "train", OFFICIAL["url"])
    assert loaded.original_string == PYTHON
    assert (loaded.code_tokens, loaded.docstring_tokens) == (("def", "area"), ("Compute", "the", "area", "."))
    assert loaded.sha == SHA


def test_versions_of_python_are_python(tmp_path):
    write_gz(
        tmp_path / "python/final/jsonl/train/python_train_0.jsonl.gz",
        [{**OFFICIAL, "language": "python-2.7"}],
    )
    (loaded,) = load(tmp_path)
    assert (loaded.row.language, loaded.row.code) == (
        "python",
        "def area(self, w):\n    \n    return w * self.h",
    )


def test_files_of_the_official_layout_are_read_in_natural_order(tmp_path):
    for number in (0, 2, 10):
        record = {**OFFICIAL, "func_name": f"f{number}"}
        write_gz(tmp_path / f"python/final/jsonl/train/python_train_{number}.jsonl.gz", [record])
    assert names(tmp_path) == ["f0", "f2", "f10"]
    assert names(tmp_path / "python") == ["f0", "f2", "f10"]


def test_a_pickle_in_the_folder_of_official_files_is_not_read(tmp_path):
    write_gz(tmp_path / "python/final/jsonl/train/python_train_0.jsonl.gz", [OFFICIAL])
    (tmp_path / "python_dedupe_definitions_v2.pkl").write_bytes(pickle.dumps([DEDUPE]))
    assert len(list(load(tmp_path))) == 1


def test_the_folder_gives_the_partition_of_records_without_one(tmp_path):
    record = {key: value for key, value in OFFICIAL.items() if key != "partition"}
    write_gz(tmp_path / "python/final/jsonl/valid/python_valid_0.jsonl.gz", [record])
    assert [loaded.row.partition for loaded in load(tmp_path)] == ["valid"]


def test_all_three_layouts_give_the_same_row(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    write_gz(tmp_path / "a.jsonl.gz", [OFFICIAL])
    parquet.write_table(pyarrow.Table.from_pylist([HUGGING_FACE]), tmp_path / "b.parquet")
    (tmp_path / "c.pkl").write_bytes(pickle.dumps([DEDUPE]))
    (official,), (hugging_face,), (dedupe,) = (
        load(tmp_path / name) for name in ("a.jsonl.gz", "b.parquet", "c.pkl")
    )
    assert hugging_face == official
    assert dedupe.row == dataclasses.replace(official.row, partition="")
    assert dataclasses.replace(dedupe, row=official.row) == official


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_our_rows_are_read_as_written_in_every_compression(tmp_path, suffix):
    line = to_line(CsnRow(OWN))
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[suffix]
    (tmp_path / f"x.jsonl{suffix}").write_bytes(pack(line) + pack(line))
    assert [loaded.row for loaded in load(tmp_path)] == [OWN, OWN]


def test_the_rows_of_a_corpus_folder_are_found(tmp_path):
    write_rows(tmp_path / "rows" / "python.test.jsonl.zst", [OWN])
    write_gz(tmp_path / "elsewhere.jsonl.gz", [OFFICIAL])
    assert [loaded.row for loaded in load(tmp_path)] == [OWN]


def test_rows_are_streamed(tmp_path):
    (tmp_path / "x.jsonl").write_text(json.dumps(OFFICIAL) + "\n{not json\n")
    rows = load(tmp_path / "x.jsonl")
    assert next(rows).row.identifier == "area"
    with pytest.raises(CodeSearchError, match=r"x\.jsonl:2: not JSON lines"):
        next(rows)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_is_refused_by_name_and_does_not_run(tmp_path, protocol):
    planted = tmp_path / "planted"
    path = tmp_path / "x_dedupe_definitions_v2.pkl"
    path.write_bytes(pickle.dumps([DEDUPE, Bomb(planted)], protocol))
    with pytest.raises(CodeSearchError, match=r"refused, nothing of it was run: it asks for _?\w*io\.open"):
        list(load(path))
    assert not planted.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a pickle"),
        (b"no pickle", "not a pickle"),
        (pickle.dumps([DEDUPE])[:-40], "not a pickle"),
        (pickle.dumps({"a": 1}), "holds dict, not a list of functions"),
        (pickle.dumps([1]), ":1: not a function but int"),
    ],
)
def test_an_invalid_pickle_is_a_one_line_error(tmp_path, content, message):
    (tmp_path / "x.pkl").write_bytes(content)
    with pytest.raises(CodeSearchError, match=message) as raised:
        list(load(tmp_path / "x.pkl"))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [("none", "is not there"), ("x.txt", "unknown kind of file"), (".", "no corpus in this")],
)
def test_a_path_without_a_corpus_says_what_was_expected(tmp_path, name, message):
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(CodeSearchError, match=message):
        list(load(tmp_path / name))


def test_rows_without_a_docstring_or_partition_are_not_written(tmp_path):
    records = [OFFICIAL, {**OFFICIAL, "docstring": ""}, {**OFFICIAL, "partition": "odd"}]
    write_gz(tmp_path / "in" / "x.jsonl.gz", records)
    dropped = Counter()
    written = write_loaded(load(tmp_path / "in"), tmp_path / "out", dropped)
    assert written == {("python", "train"): 1}
    assert dropped == {"no docstring": 1, "no partition": 1}
    (row,) = read_rows(tmp_path / "out" / "rows" / "python.train.jsonl.zst")
    assert row.func_name == "Shape.area"
    with pytest.raises(CodeSearchError, match="has rows already"):
        write_loaded([], tmp_path / "out", Counter())


def test_a_failed_load_leaves_nothing_and_can_be_repeated(tmp_path):
    write_gz(tmp_path / "in/a.jsonl.gz", [OFFICIAL])
    write_gz(tmp_path / "in/b.jsonl.gz", [[]])
    with pytest.raises(CodeSearchError, match="not an object"):
        load_corpus(tmp_path / "in", tmp_path / "out", None)
    assert not list((tmp_path / "out").iterdir())
    (tmp_path / "in/b.jsonl.gz").unlink()
    assert load_corpus(tmp_path / "in", tmp_path / "out", None)[0] == {("python", "train"): 1}


def test_two_loads_into_one_folder_leave_the_rows_of_the_first_to_finish(tmp_path):
    write_gz(tmp_path / "python_train_0.jsonl.gz", [OFFICIAL])
    row = next(load(tmp_path / "python_train_0.jsonl.gz"))

    def with_another_load():
        yield row
        write_loaded([row] * 3, tmp_path / "out", Counter())

    with pytest.raises(CodeSearchError, match="has rows already: give another --out folder"):
        write_loaded(with_another_load(), tmp_path / "out", Counter())
    assert len(list(read_rows(tmp_path / "out/rows/python.train.jsonl.zst"))) == 3


@pytest.mark.parametrize("out", [None, "out"])
def test_a_load_of_no_rows_is_an_error(tmp_path, out, caplog):
    (tmp_path / "python_test_0.jsonl.gz").write_bytes(b"")
    with pytest.raises(CodeSearchError, match=r"no rows there \(dropped none\)"):
        load_corpus(tmp_path / "python_test_0.jsonl.gz", out and tmp_path / out, None)
    assert "python_test_0.jsonl.gz: no functions in this file" in caplog.text


def test_missing_partitions_are_reported(tmp_path, caplog):
    write_gz(tmp_path / "a.jsonl.gz", [OFFICIAL, {**OFFICIAL, "docstring": None, "partition": "test"}])
    load_corpus(tmp_path / "a.jsonl.gz", tmp_path / "out", None)
    assert "python: no rows for valid and test" in caplog.text


def test_the_command_counts_and_an_unknown_path_is_status_2(tmp_path, capsys):
    write_gz(
        tmp_path / "python/final/jsonl/test/python_test_0.jsonl.gz", [{**OFFICIAL, "partition": "test"}] * 2
    )
    assert main(["corpus", "load", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "python test: 2\n2 rows, dropped none\n"
    assert main(["corpus", "load", str(tmp_path / "none")]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_the_command_drops_evaluation_repositories_only_from_training(tmp_path, capsys):
    sets = tmp_path / "sets" / "csn_urls"
    sets.mkdir(parents=True)
    (sets / "exclude_repos_test_valid.txt").write_text("a/b\n")
    held_out = {**OFFICIAL, "partition": "test"}
    write_gz(tmp_path / "in.jsonl.gz", [OFFICIAL, held_out])
    arguments = ["--out", str(tmp_path / "out"), "--evaluation-sets", str(tmp_path / "sets"), "--advtest"]
    assert main(["corpus", "load", str(tmp_path / "in.jsonl.gz"), *arguments]) == 0
    assert "python test: 1\n1 rows, dropped 1 repository of an evaluation set" in capsys.readouterr().out
    (row,) = read_rows(tmp_path / "out" / "rows" / "python.test.jsonl.zst")
    assert row.code == "def Func(arg_0, arg_1):\n    \n    return arg_1 * arg_0.h"
