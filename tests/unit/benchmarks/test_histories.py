"""Suite histories on one small tree."""

import json

import pytest

from benchmarks.suites import histories
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree

SOURCE = (
    "def int_to_string(number):\n    # Convert an integer to a string.\n    return str(number)\n\n\n"
    "def read_lines(path):\n    return open(path)\n"
)
ANSWERS = [{"path": "a.py", "start_line": 1}, {"path": "a.py", "start_line": 6}]
TASKS = [
    {"commit": "1", "query": "int to string", "body": "", "name_in_query": False, "answers": ANSWERS},
    {
        "commit": "2",
        "query": "fix read_lines",
        "body": "It is open.",
        "name_in_query": True,
        "answers": ANSWERS[1:],
    },
]


@pytest.fixture
def options(tmp_path, home, tiny_bundle):
    write_tree(tmp_path / "data/sources", {"one@c0ffee/a.py": SOURCE})
    lines = (json.dumps({"tree": "one@c0ffee", **task}) for task in TASKS)
    (tmp_path / "data/tasks.jsonl").write_text("\n".join(lines))
    return BenchOptions(home=home, data=tmp_path / "data", model=tiny_bundle, device="cpu")


def test_subjects_and_bodies_are_scored_by_the_functions_that_the_commit_changed(options):
    result = histories.run(options.data, options)
    scores = result.systems["bm25"].queries
    assert sorted(scores) == [
        ("subject", "one@c0ffee 1"),
        ("subject and body, named", "one@c0ffee 2"),
        ("subject, named", "one@c0ffee 2"),
    ]
    first = scores["subject", "one@c0ffee 1"]
    assert (first["mrr"], first["acc_at_1"], first["hit_at_10"]) == (1.0, 0.0, 1.0)
    assert scores["subject, named", "one@c0ffee 2"]["acc_at_1"] == 1.0
    assert result.details["subject_mrr_by_repository"] == {"one": 1.0}


def test_tasks_are_needed(options):
    for line, message in (("", "no questions"), ('{"tree": "one@c0ffee"}', "tasks.jsonl:1: no field commit")):
        (options.data / "tasks.jsonl").write_text(line)
        with pytest.raises(ConfigError, match=message):
            histories.run(options.data, options)
