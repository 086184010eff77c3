"""Reports: their parts, and which queries are reports."""

from pathlib import Path

import numpy as np
import pytest

from codesearch import Scope, SearchRequest
from codesearch.config import RankConfig
from codesearch.search.report import read_report
from tests.conftest import write_tree

TRACEBACKS = dict(
    traceback.split("\n", 1)
    for traceback in Path(__file__).with_name("tracebacks.txt").read_text("utf-8").split("=== ")[1:]
)
"""Language -> a traceback; behind some lines stands a place that it names, after its number."""


@pytest.mark.parametrize("language", TRACEBACKS)
def test_a_traceback_has_places(language):
    lines = [line.partition("   @ ")[::2] for line in TRACEBACKS[language].splitlines()]
    places = [mark[2:].rsplit(":", 1) for mark in sorted(mark for _, mark in lines if mark)]
    text = "".join(f"{line}\n" for line, _ in lines)
    report = read_report(f"The page is missing\n\n{text}")
    assert report.title == "The page is missing"
    for found in (report, read_report(text)):
        assert list(found.places) == [(path, int(line)) for path, line in places]


def test_names_that_are_written_as_code_are_found_and_the_rest_of_a_template_is_not_text():
    report = read_report(
        "# Wrong date\n<!-- Please search first -->\n- [x] I searched\n### Steps to reproduce\n"
        "Call `app.Dates.parse_day()` or toIsoDate(x) with MAX_DAYS; OrderedDict and ::Clock too.\n"
    )
    assert report.title == "Wrong date"
    assert list(report.names) == ["app", "Dates", "parse_day", "toIsoDate", "MAX_DAYS", "OrderedDict"]
    assert "search" not in report.text
    assert "reproduce" not in report.text


@pytest.mark.parametrize(
    "head", ["---\n", "\n\n", "<!--\nPlease search first\n-->\n", "```\nx = 1\n```\n", "***\n# "]
)
def test_the_title_is_the_first_line_with_words_outside_of_comments(head):
    report = read_report(f"{head}Dates are wrong\n\nThey are a day late.")
    assert report.title == "Dates are wrong"


@pytest.mark.parametrize(
    "query",
    [
        "---\n***\n",
        "parse a date",
        "why does parse_date fail with ValueError: bad date",
        "def parse(x):\n    return x",
        "# copies a file\ndef copy(a, b):\n    shutil.copy(a, b)\n",
        "SELECT a\nFROM b\nWHERE c = 1",
        "def read(path: Path, size: int = 3) -> str:\nis a part of it\nthat reads a file",
        "```\nx = 1\n```",
        "",
    ],
)
def test_short_queries_and_pasted_code_are_no_reports(query):
    assert read_report(query) is None


@pytest.mark.parametrize("query", ["parse a date\nfrom a string", "a long sentence " * 20 + "about dates"])
def test_several_lines_or_many_words_are_a_report(query):
    assert read_report(query) is not None


FILES = {
    "app/dates.py": "def parse_day(text):\n    return text.split('-')\n\n\ndef show(day):\n    return str(day)\n",
    "app/page.py": "class Page:\n    def render(self, day):\n        return show(day)\n\n"
    "    def close(self):\n        self.file = None\n",
    "app/other.py": "".join(f"def day_page_{n}(day):\n    return 'a fine page'\n\n\n" for n in range(3)),
}


@pytest.fixture
def engine(tmp_path, engine):
    engine.index(write_tree(tmp_path / "src", FILES))
    return engine


@pytest.mark.parametrize(
    ("report", "best"),
    [
        ("The day of a page is wrong\n\nIt happens since `parse_day` was changed.", "parse_day"),
        ("The day of a page is wrong\n\nPage.close() never runs.", "Page.close"),
        ('The day of a page is wrong\n\n  File "/x/app/dates.py", line 6, in show\n', "show"),
        ("The day of a page is wrong\n\n    at render (app/page.py:3:5)\n", "Page.render"),
        # Of another version, where the function is at other lines.
        ('The day of a page is wrong\n\n  File "/x/app/dates.py", line 1, in show\n', "show"),
    ],
)
def test_what_a_report_names_ranks_first(engine, tmp_path, report, best):
    answer = engine.search(report, Scope((tmp_path / "src",)))
    hit = answer.hits[0]
    assert hit.qualified_name == best
    assert np.isclose(sum(hit.parts.values()), hit.score)
    assert {"title", "text"} <= hit.signals.keys()
    by_file = engine.search(report, Scope((tmp_path / "src",)), by_file=True)
    assert by_file.hits[0].path == hit.path


def test_a_method_whose_class_a_report_names_too_counts_more(engine, tmp_path):
    report = "The day of a page is wrong\n\nPage.close() and `parse_day` never run."
    hits = engine.search(report, Scope((tmp_path / "src",)), top_k=9).hits
    found = {hit.qualified_name: (hit.signals["names"], hit.signals["owner"]) for hit in hits}
    assert (found["Page.close"], found["parse_day"], found["show"]) == ((1, 1), (1, 0), (0, 0))


def test_a_report_with_more_hits_than_candidates_has_the_same_order(searcher_of):
    report = "The day of a page is wrong\n\n    at render (app/page.py:3:5)\n"
    searcher = searcher_of(FILES, RankConfig(candidate_count=4))
    hits = searcher.answer(SearchRequest(report, 8)).hits
    assert len(hits) == 8 and hits[0].qualified_name == "Page.render"
    assert {"title", "text"} <= hits[-1].signals.keys()


def test_a_report_about_the_only_definition_has_a_score(searcher_of):
    searcher = searcher_of({"a.py": "def show(day):\n    return day\n"})
    (hit,) = searcher.answer(SearchRequest("The day of a page is wrong\n\nIt is in `show`.")).hits
    assert np.isfinite(hit.score) and hit.signals["names"] == 1


def test_a_short_query_has_no_parts_of_a_report(engine, tmp_path):
    answer = engine.search("the day of a page", Scope((tmp_path / "src",)))
    assert "title" not in answer.hits[0].signals


def test_a_report_obeys_filters_and_modes(engine, tmp_path):
    report = "The day of a page is wrong\n\nIt happens since `parse_day` was changed."
    scope = Scope((tmp_path / "src",))
    answer = engine.search(report, Scope((tmp_path / "src",), within=(tmp_path / "src/app/page.py",)))
    assert {hit.path for hit in answer.hits} == {"app/page.py"}
    assert engine.search(report, scope, mode="lexical").hits[0].name == "parse_day"
    assert engine.search(report, scope, mode="semantic").hits
