from __future__ import annotations

from html.parser import HTMLParser

import pytest

from codesearch.evaluation.render import html_report
from codesearch.evaluation.result import SuiteResult, summarise

GO, PHP = ("go", "sort <b>"), ("php", "sort <b>")
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Parse a page; check that elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


@pytest.fixture
def result() -> SuiteResult:
    scores = {GO: {"mrr": 0.25}, PHP: {"mrr": 1.0}}
    return SuiteResult(
        "x",
        {"default": summarise(scores), "bm25": summarise(scores)},
        judged_queries=1,
        documents=1234,
        seconds={"index": 1.5},
        rss_bytes={"index": 2_000_000},
        runs={"default": {GO: ["u1", "u2", "u3", "u4"], PHP: []}},
        queries={GO: "Sort <b>", PHP: "Sort <b>"},
        qrels={GO: {"u4": 3.0, "u9": 2.0, "u2": 0.0, "gone": 1.0}, PHP: {"u9": 1.0}},
        names={"u1": "a.b<T>", "u2": "c", "u3": "d", "u4": "e", "u9": "f"},
    )


def test_the_page_is_complete_and_foreign_text_is_escaped(result):
    page = Page(html_report(result))
    assert "Sort <b>" in page.texts
    assert "a.b<T>" in page.texts


def test_the_worst_query_shows_grades_and_where_the_answers_are(result):
    texts = Page(html_report(result)).texts
    worst = texts[texts.index("Worst queries of default, by mrr") :]
    shown = [text for text in worst[: worst.index("php 1.000")] if text]
    assert shown[1:] == [
        *("Sort <b>", "go 0.250", "ranked first"),
        *("a.b<T>", "u1", "not judged", "c", "u2", "grade 0", "d", "u3", "not judged", "e", "u4", "grade 3"),
        *("relevant, with their ranks", "4", "e", "u4", "grade 3"),
        *("not among the results", "f", "u9", "grade 2", "not a document", "gone", "gone", "grade 1"),
        "Sort <b>",
    ]


def test_a_suite_without_runs_has_a_page_too(result):
    bare = SuiteResult("x", result.systems, judged_queries=1, documents=1)
    texts = Page(html_report(bare)).texts
    assert not [text for text in texts if text.startswith("Worst")]
    assert {"Every query, by mrr", "sort <b>", "0.250"} <= set(texts)


def test_the_style_closes_what_it_opens(result):
    page = html_report(result)
    style = page[page.index("<style>") : page.index("</style>")]
    depth = 0
    for character in style:
        depth += (character == "{") - (character == "}")
        assert 0 <= depth <= 2
    assert depth == 0
