"""Suite `applications`: its questions, and packages that are excluded from training."""

import tomllib
from pathlib import Path

import pytest

from benchmarks.suites import applications
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree

ROOT = Path(__file__).parents[3]
HALVES = ("development", "end")
CODE = "def reap(children):\n    return [c for c in children if c.poll() is None]\n\n\ndef other():\n    return 1\n"
LINES = (
    "python/app\tkeywords\tundocumented\tapp.py\t1\treap\tremove finished processes\n"
    "python/app\tquestion\tundocumented\tapp.py\t5\tother\twhich number is the other\n"
)


def recipe(path: str) -> dict[str, list[dict[str, str]]]:
    tables = tomllib.loads((ROOT / path).read_text("utf-8"))["languages"]
    return {name: [it for group in table.values() for it in group] for name, table in tables.items()}


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Replace the data of the suite by one package with two questions."""
    write_tree(tmp_path / "data/packages/python/app", {"app.py": CODE})
    (tmp_path / "development.tsv").write_text(LINES)
    (tmp_path / "end.tsv").write_text(LINES.splitlines()[0] + "\n")
    monkeypatch.setattr(applications, "FOLDER", tmp_path)
    return BenchOptions(home=tmp_path / "home", data=tmp_path / "data")


def test_no_question_is_in_both_halves():
    first, second = (
        {text for asked in applications.read_questions(half).values() for text in asked} for half in HALVES
    )
    assert first.isdisjoint(second)


def test_no_package_is_in_a_recipe_for_training():
    asked = recipe("benchmarks/applications/sources.toml")
    trained = [
        recipe(f"training/{name}.toml")
        for name in ("corpus/sources", "corpus/more_python", "written/sources")
    ]
    repositories = {it["repository"].lower() for table in trained for its in table.values() for it in its}
    assert repositories.isdisjoint(it["repository"].lower() for its in asked.values() for it in its)


def test_a_question_is_scored_by_the_rank_of_its_function(small):
    result = applications.run(small.data, small)
    assert result.suite == "applications"
    assert result.judged_queries == 2
    assert result.systems["default"].metrics["mrr"]["python/app"] == 1.0
    assert applications.run_end(small.data, small).judged_queries == 1


def test_without_packages_or_with_another_version_the_error_says_how_to_fetch(small, tmp_path):
    with pytest.raises(
        ConfigError, match=r"no such folder: run `python -m training corpus fetch --recipe .*toml"
    ):
        applications.run(tmp_path, small)
    (tmp_path / "data/packages/python/app/app.py").write_text(CODE.replace("def reap", "def other"))
    with pytest.raises(ConfigError, match=r"app\.py:1:reap is not in this version: run `python -m training"):
        applications.run(small.data, small)


def test_an_answer_is_the_nearest_definition_with_its_path_and_name():
    names = ["a.py:7:C.f", "a.py:30:C.f", "b.py:12:C.f", "a.py:12:f"]
    assert applications._answer("a.py:12:C.f", names) == "a.py:7:C.f"
    assert applications._answer("a.py:12:g", names) == ""
