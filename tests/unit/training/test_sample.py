"""Written questions are joined to their functions."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from training.corpus.fetch import MARKER
from training.corpus.recipe import SourcePackage
from training.corpus.sample import STYLES, SampledFunction, join_questions, sample_functions, write_batches
from training.errors import TrainingError

FUNCTION = """
def {name}(path, retries, delay):
    {doc}
    attempts = 0
    while attempts < retries:
        response = open_socket(path, timeout=delay * attempts)
        if response.status == {number}:
            return parse_headers(response.body, encoding="utf-8")
        attempts += 1
    raise ConnectionError("{name} gave up after several attempts")
"""


def function(number: int, **changes: object) -> dict[str, object]:
    fields = SampledFunction(number, "pkg:pypi/a@1", "a.py", 3, f"f{number}", "python", False, "keywords")
    return {name: getattr(fields, name) for name in SampledFunction.__slots__} | changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = (json.dumps(function(number)) for number in range(1, 6))
    (tmp_path / "functions.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_each_question_is_joined_to_its_function(folder):
    answers = folder / "answers"
    answers.mkdir()
    (answers / "b.tsv").write_text("2\tread a  file\n1\tclose the socket\n")
    (answers / "a.tsv").write_text("3\t-\n4\tRead a file twice\n5\ttwice read the files\n")
    assert list(join_questions([folder], answers)) == [
        "keywords\tundocumented\tpython\tpkg:pypi/a@1\ta.py\t3\tf1\tclose the socket",
        "keywords\tundocumented\tpython\tpkg:pypi/a@1\ta.py\t3\tf2\tread a file",
    ]


@pytest.mark.parametrize("line", ["read a file", "9\tunknown number", "x\ty", "1\ta\tb"])
def test_an_invalid_line_is_an_error(folder, line):
    answers = folder / "answers"
    answers.mkdir()
    (answers / "a.tsv").write_text(f"{line}\n")
    with pytest.raises(TrainingError, match="not a number, a tab and a question"):
        list(join_questions([folder], answers))


def test_a_sample_has_its_quota_per_language_and_its_shares(tmp_path):
    packages = [SourcePackage("python", "pypi", name, f"owner/{name}", "MIT") for name in ("one", "two")]
    for offset, package in enumerate(packages):
        root = tmp_path / package.folder
        root.mkdir(parents=True)
        for number in range(30):
            doc = '"""Fetch the headers of a remote file."""' if number % 2 else "pass"
            name = f"fetch_{package.name}_{number}"
            text = FUNCTION.format(name=name, doc=doc, number=1000 * offset + number)
            (root / f"part{number}.py").write_text(text.replace("attempts", f"attempt{offset}{number}"))
        record = {"version": "1.0", "download_bytes": 10, "files": 30, "bytes": 9_000}
        (root / MARKER).write_text(json.dumps(record))
    sampled = list(sample_functions(packages, tmp_path, None, {"python": 12}))
    found = [function for function, _ in sampled]
    assert len({(each.package, each.path, each.line) for each in found}) == len(found)
    assert sum(each.documented for each in found) <= 4 < len(found) <= 12
    assert {each.style for each in found} <= set(STYLES)
    assert Counter(each.package for each in found)["pkg:pypi/one@1.0"] >= 2
    assert write_batches(iter(sampled), tmp_path / "out", 5)["python"] == len(found)
    first = (tmp_path / "out" / "batch-000.txt").read_text()
    assert first.count("=== ") == 5 and "Fetch the headers" not in first
