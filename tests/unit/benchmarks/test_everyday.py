"""Suite `everyday`: its questions, their answers with overloads and copies, and the confidence."""

from pathlib import Path

import pytest

from benchmarks.suites import everyday
from codesearch.errors import ConfigError
from codesearch.evaluation.judge import BenchOptions
from tests.conftest import write_tree

ROOT = Path(__file__).parents[3]
CODE = "def send_mail(to, text):\n    connection = connect(to)\n    return connection.deliver(text)\n"
LINES = (
    "python/web\tkeywords\tmail.py\t1\tsend_mail\tsend an email\n"
    "python/web\tquestion\turls.py\t1\tredirect|urls.py:5:Redirect\thow do I go to another page\n"
)
URLS = (
    "def redirect(to):\n    return Redirect(to)\n\n\nclass Redirect(str):\n    status = 302\n    text = ''\n"
)


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Replace the data of the suite by one package with two questions; a copy comes before the first answer."""
    write_tree(
        tmp_path / "data/packages/python/web", {"mail.py": CODE, "dist/mail.py": CODE, "urls.py": URLS}
    )
    (tmp_path / "development.tsv").write_text(LINES)
    monkeypatch.setattr(everyday, "FOLDER", tmp_path)
    return BenchOptions(home=tmp_path / "home", data=tmp_path / "data")


def lines_of(half: str) -> list[list[str]]:
    return [line.split("\t") for line in (everyday.FOLDER / f"{half}.tsv").read_text("utf-8").splitlines()]


def test_the_halves_ask_different_libraries_of_the_same_main_languages():
    asked = {half: {package for package, *_ in lines_of(half)} for half in ("development", "end")}
    assert asked["development"].isdisjoint(asked["end"])
    languages = [{package.partition("/")[0] for package in packages} for packages in asked.values()]
    assert languages[0] & languages[1] >= set("c cpp go java javascript php python ruby rust".split())


def test_any_answer_is_right_and_so_is_a_copy(small):
    assert everyday.read_questions("development")["python/web"]["how do I go to another page"] == [
        "urls.py:1:redirect",
        "urls.py:5:Redirect",
    ]
    result = everyday.run(small.data, small)
    query = ("python/web", "send an email")
    assert set(result.runs["default"][query][:2]) == {"dist/mail.py:1:send_mail", "mail.py:1:send_mail"}
    scores = result.systems["default"].queries
    assert scores[query]["recall_at_1"] == scores[query]["file_mrr"] == 1.0
    assert scores["python/web", "how do i go to another page"]["mrr"] == 1.0
    assert result.details["confidence_auc"] is None  # Without a wrong first hit there is no curve.


def test_a_file_is_ranked_by_its_first_definition():
    qrels = {("python/web", "q"): {"b.py:9:f": 1.0}}
    run = {("python/web", "q"): ["a.py:1:f", "a.py:5:g", "b.py:1:h", "b.py:9:f"]}
    scores = everyday._scored(run, qrels)["python/web", "q"]
    assert scores == {"mrr": 0.25, "recall_at_1": 0.0, "recall_at_10": 1.0, "file_mrr": 0.5}


def test_another_version_of_a_library_is_an_error_that_says_how_to_fetch(small):
    (small.data / "packages/python/web/urls.py").write_text("def other():\n    return 1\n")
    with pytest.raises(
        ConfigError, match=r"urls\.py:1:redirect is not in this version: run `python -m training"
    ):
        everyday.run(small.data, small)
