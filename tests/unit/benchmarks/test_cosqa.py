"""Suite cosqa on a codebase of five functions."""

import gzip
import json

import pytest

from benchmarks import suite
from benchmarks.suites import cosqa
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions

FUNCTIONS = {
    "7": 'def int_to_string(number):\n    """Convert an integer to a string."""\n    return str(number)',
    "8": "def read_lines(path):\n    def strip(line):\n        return line.strip()\n    return open(path)",
    "9": "def push(self, item):\n        self.items.append(item)",
    "10": "print 'no function here'",
    "11": "def pop(self):\n    return self.items.pop()",
}
QUERIES = [("int to string", "7"), ("read lines", "8"), ("strip line", "8"), ("no function here", "10")]


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "cosqa"
    folder.mkdir()
    with gzip.open(folder / "codebase.python.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": key, "code": code}) + "\n" for key, code in FUNCTIONS.items())
    (folder / "retrieval_dev.jsonl").write_text(
        "".join(json.dumps({"query": query, "codebase_id": answer}) + "\n" for query, answer in QUERIES)
    )
    return folder


def test_functions_are_indexed_and_searched_by_the_engine(data, home, tiny_bundle):
    result = cosqa.run(data, BenchOptions(home=home, model=tiny_bundle, device="cpu"))
    bm25 = result.systems["bm25"].queries
    assert bm25["python", "int to string"]["mrr"] == 1.0
    assert bm25["python", "strip line"]["recall_at_1"] == 1.0
    assert bm25["python", "no function here"] == dict.fromkeys(bm25["python", "read lines"], 0.0)
    assert result.runs["bm25"]["python", "strip line"] == ["8"]
    assert result.systems["bm25"].metrics["mrr"]["average"] == 0.75
    assert result.details["functions"] == 5 and result.documents == 4
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_an_answer_that_is_not_in_the_codebase_is_refused(data):
    with (data / "retrieval_dev.jsonl").open("a") as file:
        file.write(json.dumps({"query": "q", "codebase_id": "99"}) + "\n")
    with pytest.raises(ConfigError, match=r"retrieval_dev.jsonl:5: function 99 is not in the codebase"):
        cosqa.read_queries(data / "retrieval_dev.jsonl", FUNCTIONS)


def test_a_folder_without_the_data_says_what_is_missing(tmp_path, home):
    with pytest.raises(ConfigError, match=r"0 files codebase\*\.jsonl\*, expected 1"):
        cosqa.run(tmp_path, BenchOptions(home=home))


def test_the_command_prints_and_writes_what_the_bench_command_does(
    data, home, tiny_bundle, monkeypatch, capsys
):
    options = ["--model", str(tiny_bundle), "--device", "cpu", "--home", str(home)]
    files = ["--json", str(data / "a.json"), "--predictions", str(data / "p.csv")]
    monkeypatch.setattr("sys.argv", ["suite", "cosqa", "--data", str(data), *options, *files])
    suite.main()
    assert capsys.readouterr().out.startswith("cosqa: 4 judged queries, 4 documents\n\nmrr ")
    written = json.loads((data / "a.json").read_text())
    assert written["systems"]["bm25"]["mrr"]["average"] == 0.75
    assert written["command"].startswith("python -m benchmarks.suite cosqa --data ")
    assert "strip line,python,read_lines.strip,8" in (data / "p.csv").read_text()
    monkeypatch.setattr("sys.argv", ["suite", "cosqa", "--data", str(home)])
    with pytest.raises(SystemExit, match="2"):
        suite.main()
    assert capsys.readouterr().err.startswith(f"error: {home}: 0 files codebase*.jsonl*, expected 1")
