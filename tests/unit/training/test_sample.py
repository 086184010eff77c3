"""Functions are sampled for questions, and questions that a reader understood are joined to them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from training.corpus.fetch import MARKER
from training.corpus.recipe import SourcePackage
from training.corpus.sample import (
    CLUSTER,
    PER_REPOSITORY,
    STYLES,
    SampledFunction,
    join_questions,
    sample_functions,
    write_batches,
    write_checks,
)
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    functions = (
        SampledFunction(number, 0, "pkg:pypi/a@1", "a.py", 3, f"f{number}", "python", False, "keywords", "x")
        for number in range(6)
    )
    (tmp_path / "functions.jsonl").write_text("".join(json.dumps(asdict(each)) + "\n" for each in functions))
    (tmp_path / "answers").mkdir()
    (tmp_path / "picks").mkdir()
    return tmp_path


def letters(folder: Path) -> dict[str, str]:
    """Read the letters that a reader sees; the functions of this file differ by their code."""
    lines = (folder / "checks" / "0000.txt").read_text().splitlines()
    return {after: line.split()[1] for line, after in zip(lines, lines[1:], strict=False) if " | " in line}


def test_a_question_is_kept_if_a_reader_picks_its_function(folder):
    lines = [json.loads(line) for line in (folder / "functions.jsonl").read_text().splitlines()]
    named = (json.dumps({**line, "code": line["name"]}) + "\n" for line in lines)
    (folder / "functions.jsonl").write_text("".join(named))
    (folder / "answers" / "b.tsv").write_text("2\tread a  file\n1\tclose the socket\n0\t-\n")
    (folder / "answers" / "a.tsv").write_text(
        "3\tdraw a line\n4\tRead a file twice\n5\ttwice read the files\n"
    )
    assert write_checks(folder, folder / "answers", folder / "checks") == 5
    asked = (folder / "checks" / "0000.txt").read_text().partition("=== QUESTIONS\n")[2].splitlines()
    assert sorted(line.split("\t")[0] for line in asked) == ["1", "2", "3", "4", "5"]
    of = letters(folder)
    picks = {1: of["f1"], 2: of["f2"], 3: of["f1"], 4: of["f4"], 5: of["f5"]}
    (folder / "picks" / "a.tsv").write_text("".join(f"{number}\t{pick}\n" for number, pick in picks.items()))
    assert list(join_questions([folder], folder / "answers", folder / "picks")) == [
        "keywords\tundocumented\tpython\tpkg:pypi/a@1\ta.py\t3\tf1\tclose the socket",
        "keywords\tundocumented\tpython\tpkg:pypi/a@1\ta.py\t3\tf2\tread a file",
    ]


@pytest.mark.parametrize("line", ["read a file", "9\tunknown number", "x\ty", "1\ta\tb"])
def test_an_invalid_line_is_an_error(folder, line):
    (folder / "answers" / "a.tsv").write_text(f"{line}\n")
    with pytest.raises(TrainingError, match="not a number, a tab and a text"):
        list(join_questions([folder], folder / "answers", folder / "picks"))


def test_a_batch_has_functions_of_one_folder_and_a_repository_has_few_batches(tmp_path):
    packages = [SourcePackage("python", "pypi", name, f"owner/{name}", "MIT") for name in ("one", "two")]
    for offset, package in enumerate(packages):
        for number in range(90):
            doc = '"""Fetch the headers of a remote file."""' if number // 6 % 2 else "pass"
            name = f"fetch_{package.name}_{number}"
            text = FUNCTION.format(name=name, doc=doc, number=1000 * offset + number)
            path = tmp_path / package.folder / f"part{number % 6}" / f"file{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            for word in ("attempts", "response", "retries", "delay", "socket"):
                text = text.replace(word, f"{word}{offset}x{number}")  # Near-duplicates are left out.
            path.write_text(text)
        record = {"version": "1.0", "download_bytes": 10, "files": 30, "bytes": 9_000}
        (tmp_path / package.folder / MARKER).write_text(json.dumps(record))
    found = list(sample_functions(packages, tmp_path, None, {"python": 20}, first=7))
    batches = Counter(each.batch for each in found)
    assert set(batches.values()) == {CLUSTER} and min(batches) == 7
    assert len({(each.package, each.path, each.line) for each in found}) == len(found)
    assert len({(each.batch, each.package, Path(each.path).parent) for each in found}) == len(batches)
    assert max(Counter(each.package for each in found).values()) <= PER_REPOSITORY * CLUSTER
    assert 0 < sum(each.documented for each in found) < len(found) / 2
    assert {each.style for each in found} <= set(STYLES)
    assert write_batches(iter(found), tmp_path / "out")["python"] == len(found)
    first = (tmp_path / "out" / "0007.txt").read_text()
    assert first.count("=== ") == CLUSTER and "Fetch the headers" not in first
