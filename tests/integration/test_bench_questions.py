"""`codesearch bench --questions`: a user's own questions, scored on the index of their project."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.compare import compare
from codesearch.cli.invocation import Terminal
from codesearch.cli.render import columns_of, screen_rows
from codesearch.evaluation.judge import COLUMNS, SCREEN
from codesearch.evaluation.metrics import bootstrap_intervals
from tests.command import Command

QUESTIONS = [
    ("int_to_string", ["./python/convert.py::int_to_string"]),
    ("getJson", ["javascript/http.js"]),
    ("string_to_int", ["python/convert.py:6"]),  # A line of int_to_string, which is the second definition.
    ("push", ["ruby/none.rb", "php/Crypto.php::decrypt", "php/Crypto.php:1"]),
]
METRICS = ("mrr", "hit_at_1", "hit_at_5", "hit_at_10", "screen")


@pytest.fixture
def ask(indexed: Path, command: Command) -> Command:
    lines = [json.dumps({"query": query, "answers": answers}) for query, answers in QUESTIONS]
    (command.folder / "questions.jsonl").write_text("\n".join(lines))
    return Command(indexed / "python", command.home, {"HOME": str(command.folder)})


def test_questions_are_scored_by_the_first_right_hit(ask, command, indexed):
    file, written = command.folder / "questions.jsonl", command.folder / "a.json"
    done = ask("bench", "--questions", file, "--json", written)
    assert done.returncode == 0  # On a busy machine, a note says that nothing was compared.
    head, _, _, *rows = done.stdout.splitlines()
    assert head == f"4 questions of {file} in {indexed}, 13 documents"
    fields = json.loads(written.read_text())
    system = fields["systems"]["default"]
    assert fields["queries"]["text"] == [query for query, _ in QUESTIONS]
    assert system["scores"] == {
        "mrr": [1.0, 1.0, 0.5, 0.0],
        "hit_at_1": [1.0, 1.0, 0.0, 0.0],
        "hit_at_5": [1.0, 1.0, 1.0, 0.0],
        "hit_at_10": [1.0, 1.0, 1.0, 0.0],
        "screen": [1.0, 1.0, 1.0, 0.0],
    }
    scores = {("", query): score for (query, _), score in zip(QUESTIONS, (1, 1, 0.5, 0), strict=True)}
    low, high = bootstrap_intervals(scores)["average"]
    assert rows[:2] == [
        f"mrr            0.625   {low:.3f} to {high:.3f}",
        f"hit_at_1       0.500   {0:.3f} to {1:.3f}",
    ]
    assert [row.split()[0] for row in rows[:5]] == list(METRICS)
    assert rows[5:] == [
        "",
        "not in the index, so these answers count as misses:",
        f"  {file}:4: ruby/none.rb",
        f"  {file}:4: php/Crypto.php::decrypt",
        f"  {file}:4: php/Crypto.php:1",
        "",
        "without an answer in the first 10 hits:",
        "  push",
    ]
    assert fields["details"]["unknown_answers"][0] == f"{file}:4: ruby/none.rb"
    assert [one.verdict() for one in compare(written, written)] == ["the same scores"] * len(METRICS)


def test_the_screen_is_that_of_a_small_terminal():
    terminal = Terminal(Path(), is_terminal=True, width=80, height=24)
    assert screen_rows(terminal) == SCREEN and COLUMNS <= columns_of(terminal)


def test_a_project_without_an_index_is_indexed_first(tiny_repo, command, tiny_bundle):
    (tiny_repo / ".git").mkdir()
    file = command.folder / "q"
    file.write_text('{"query": "getJson", "answers": ["javascript/http.js::getJson"]}\n')
    done = replace(command, folder=tiny_repo)("bench", "--questions", file, "--model", tiny_bundle)
    assert done.stderr.startswith(f"indexed {tiny_repo}: 13 documents in ")
    assert "\nmrr            1.000   1.000 to 1.000\n" in done.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query": "a", "answers": ["b"]}\n{', "q:2: not JSON lines"),
        ('["a"]', "q:1: not an object: give a file of JSON lines"),
        ('{"query": " ?", "answers": ["b"]}', "q:1: query is no text with words: write {"),
        ('{"query": "a", "answers": "b"}', "q:1: answers is no list of places: write {"),
        ('{"query": "a", "answers": []}', "q:1: answers is no list of places: write {"),
        (
            '{"query": "a", "answers": ["b", 7]}',
            "q:1: answer 7 is no text: write path, path:line or path::name",
        ),
        (
            '{"query": "a", "answers": ["b"]}\n{"query": "a", "answers": ["c"]}',
            "q:2: the same query as q:1: write all answers into one line",
        ),
        ("", "q: no questions: write {"),
    ],
)
def test_a_wrong_line_is_named_with_its_cure(command, text, message):
    (command.folder / "q").write_text(text)
    assert command.fails("bench", "--questions", "q").startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--questions", "none"], "none is not there: check the path"),
        (["--questions", "q", "--suite", "smoke"], "--questions asks the index of this folder: give it only"),
    ],
)
def test_options_that_do_not_fit_are_refused(command, arguments, reason):
    assert reason in command.fails("bench", *arguments)
