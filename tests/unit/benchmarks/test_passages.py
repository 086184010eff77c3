"""Suite `passages`: its questions, packages that are excluded from training, and its scores."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.suites import passages
from benchmarks.suites.passages import LONG, SHORT, Definition, Question
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from codesearch.search.snippets import SNIPPET_LINES
from codesearch.types import Passage
from tests.conftest import write_tree
from tests.records import make_hit

ROOT = Path(__file__).parents[3]
HALVES = ("development", "end")
CODE = "\n".join(
    [
        "def reap(children):",
        *(f"    total = {number}" for number in range(40)),
        "    if children.expired:",
        "        renew(children)",
        "    return total",
        "",
        "",
        "def other():",
        "    return 1",
        "",
    ]
)
LINES = (
    "python/app\treport\tapp.py\t1\t44\treap\t42\t43\tan expired one is not renewed\n"
    "python/app\tquestion\tapp.py\t47\t48\tother\t48\t48\twhich number is the other\n"
)


def recipe(path: str) -> dict[str, list[dict[str, str]]]:
    tables = tomllib.loads((ROOT / path).read_text("utf-8"))["languages"]
    return {name: [it for group in table.values() for it in group] for name, table in tables.items()}


def repositories(*paths: str) -> set[str]:
    return {it["repository"].lower() for path in paths for its in recipe(path).values() for it in its}


def rows(half: str) -> list[list[str]]:
    return [line.split("\t") for line in (passages.FOLDER / f"{half}.tsv").read_text("utf-8").splitlines()]


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Replace the data of the suite by one package with two questions."""
    write_tree(tmp_path / "data/packages/python/app", {"app.py": CODE})
    for half in HALVES:
        (tmp_path / f"{half}.tsv").write_text(LINES)
    monkeypatch.setattr(passages, "FOLDER", tmp_path)
    return BenchOptions(home=tmp_path / "home", data=tmp_path / "data")


def test_no_question_and_no_package_is_in_both_halves():
    for column in (0, 8):
        first, second = ({row[column] for row in rows(half)} for half in HALVES)
        assert first.isdisjoint(second)
    texts = [row[8] for half in HALVES for row in rows(half)]
    assert len(set(texts)) == len(texts)


def test_no_package_is_in_a_recipe_for_training_or_in_the_other_suite():
    names = ("corpus/sources", "corpus/more_python", "written/sources", "written/applications")
    trained = repositories(*(f"training/{name}.toml" for name in names))
    asked = repositories("benchmarks/passages/sources.toml")
    assert asked.isdisjoint(trained | repositories("benchmarks/applications/sources.toml"))


def test_a_question_is_scored_by_its_function_in_the_group_of_its_length(small):
    result = passages.run(small.data, small)
    assert result.suite == "passages"
    assert result.judged_queries == 2
    metrics = result.systems["default"].metrics
    assert metrics["mrr"].keys() == {SHORT, LONG, "average"}
    for metric in ("mrr", "mrr_alike", "mrr_file", "passage", "passage_at_10"):
        assert metrics[metric][LONG] == 1.0
    assert passages.run_end(small.data, small).suite == "passages-end"


def test_only_definitions_of_the_same_length_compete_for_mrr_alike():
    long, short = "a.py:1:50:function:f", "a.py:52:60:function:g"
    found = {(SHORT, "q"): ["b.py:1:90:function:h", long, short]}
    scores = passages.score(found, (SHORT, "q"), {short}, is_shown=True)
    assert (scores["mrr"], scores["mrr_alike"], scores["mrr_file"]) == (1 / 3, 1.0, 1 / 2)
    assert scores["passage_at_10"] == 1.0
    hidden = passages.score(found, (SHORT, "q"), {short}, is_shown=False)
    assert (hidden["passage"], hidden["passage_at_10"]) == (0.0, 0.0)


def test_right_is_the_named_definition_and_every_function_around_the_passage():
    question = Question("q", Definition("a.py", 1, 50, "", "f"), 20, 24)
    outer, inner, module, beside = (
        "a.py:1:50:function:f",
        "a.py:18:30:function:f.g",
        "a.py:1:90:module:a",
        "a.py:32:40:function:f.h",
    )
    assert passages.answers(question, [outer, inner, module, beside]) == {outer, inner}
    with pytest.raises(ConfigError, match=r"a\.py:20: not in a definition f in this version: run `python"):
        passages.answers(question, [inner, beside])


def test_a_hit_shows_three_lines_of_its_passages_or_else_of_its_code():
    hit = make_hit(CODE, signature="def reap(children)")
    assert passages.shown_lines(hit, "renew") >= {1, 43}
    assert len(passages.shown_lines(hit, "renew")) <= SNIPPET_LINES
    assert passages.shown_lines(replace(hit, passages=(Passage(42, 43, 1.0),)), "total") == {42, 43}


def test_without_packages_the_error_says_how_to_fetch(small, tmp_path):
    with pytest.raises(
        ConfigError, match=r"no such folder: run `python -m training corpus fetch --recipe .*"
    ):
        passages.run(tmp_path, small)
