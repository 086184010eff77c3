"""`python -m training bench`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest

import training.__main__ as training

CODES = {"Convert an integer to a string": "return str(arg)", "Push an item": "self.items.append(arg)"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [
        {"docstring": text, "function": f"def Func(arg):\n    {code}", "url": str(number)}
        for number, (text, code) in enumerate(CODES.items())
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def bench(*arguments: object) -> int:
    return training.main(["bench", *map(str, arguments)])


def test_a_suite_is_printed_and_written_with_its_results(data, tiny_bundle, capsys):
    asked = ("--suite", "advtest", "--data", data, "--model", tiny_bundle, "--device", "cpu")
    files = ("--json", data / "a.json", "--predictions", data / "mine.jsonl")
    assert bench(*asked, *files) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "advtest: 2 judged queries, 2 documents"
    assert any(line.split()[:2] == ["CodeBERT", "0.272"] and "other pool" in line for line in lines)
    written = json.loads((data / "a.json").read_text())
    assert written["command"].split()[:3] == ["python", "-m", "training"]
    assert written["details"]["model"]["name"] == "tiny"
    found = [json.loads(line) for line in (data / "mine.jsonl").read_text().splitlines()]
    ranks = [each["answers"].index(number) + 1 for number, each in enumerate(found)]
    assert written["systems"]["fused"]["mrr"]["python"] == sum(1 / rank for rank in ranks) / 2


def test_files_of_results_are_refused_where_a_suite_has_none(data, capsys):
    assert bench("--suite", "csn-mrr", "--data", data, "--predictions", data / "mine.jsonl") == 2
    assert capsys.readouterr().err == (
        "error: suite csn-mrr has no files of results: leave out --predictions\n"
    )


def test_missing_data_is_a_one_line_error(tmp_path, capsys):
    assert bench("--suite", "advtest", "--data", tmp_path) == 2
    assert "0 files *test.jsonl*, expected 1" in capsys.readouterr().err
