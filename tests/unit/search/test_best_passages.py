"""The passages of a long definition that answer a query, and the lines that are shown of them."""

import pytest

from codesearch.search.request import SearchRequest
from codesearch.search.searcher import Searcher
from codesearch.search.snippets import snippet_lines, spans_of
from codesearch.types import Hit, Passage
from tests.conftest import write_tree
from tests.records import make_hit

STEPS = "".join(f"    if queue.size > {number}:\n        queue.drop({number})\n" for number in range(30))
LONG = f"def drain(queue):\n{STEPS}    token = renew_token(queue)\n    retry(token)\n{STEPS}"
TOKEN = 62
"""The line of the token in `LONG`."""


@pytest.fixture
def searcher(tmp_path, index_tree, encoder) -> Searcher:
    write_tree(tmp_path / "src", {"a.py": f"{LONG}\n\ndef short(queue):\n    return renew_token(queue)\n"})
    return Searcher([index_tree(tmp_path / "src")], encoder)


def drain(searcher: Searcher, query: str, mode: str = "hybrid", **options: object) -> Hit:
    hits = searcher.answer(SearchRequest(query, 5, mode=mode, **options)).hits
    return next(hit for hit in hits if hit.name == "drain")


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_the_best_passage_has_the_words_of_the_query(searcher, mode):
    hit = drain(searcher, "renew the token and retry", mode)
    first, *others = hit.passages
    assert first.start_line <= TOKEN <= first.end_line
    assert hit.best_line == first.start_line
    assert [one.score for one in hit.passages] == sorted((one.score for one in hit.passages), reverse=True)
    assert len(others) == 2 and all(
        one.end_line < other.start_line or other.end_line < one.start_line
        for at, one in enumerate(hit.passages)
        for other in hit.passages[:at]
    )


def test_code_that_is_pasted_has_its_passage_too(searcher):
    first, *_ = drain(searcher, "token = renew_token(queue)\nretry(token)\n").passages
    assert first.start_line <= TOKEN <= first.end_line


def test_the_line_of_a_quoted_text_is_the_best_passage(searcher_of):
    code = LONG.replace("retry(token)", "fail('the queue has lost its token')")
    hit = drain(searcher_of({"a.py": code}), "the queue has lost its token")
    first, *others = hit.passages
    assert first.start_line == TOKEN + 1 and first.score > max(one.score for one in others)


def test_the_title_of_a_report_chooses_its_passage(searcher_of):
    paint = "    paint(canvas, color, brush)\n"
    code = f"def drain(queue):\n{STEPS}    token = renew_token(queue)\n{STEPS}{paint}{STEPS}"
    report = "Renew a token\n\nIt does not paint a canvas in a color with a brush."
    hit = drain(searcher_of({"a.py": code}), report, "lexical")
    assert hit.passages[0].start_line <= TOKEN <= hit.passages[0].end_line


def test_words_alone_give_a_passage_the_weighted_share_of_the_idf(searcher):
    assert drain(searcher, "renew token retry", "lexical").passages[0].score == pytest.approx(0.8)


def test_a_short_definition_a_name_and_an_exact_text_ask_for_no_passage(searcher):
    hits = searcher.answer(SearchRequest("renew the token and retry", 5)).hits
    assert [hit.passages for hit in hits if hit.name == "short"] == [()]
    assert drain(searcher, "drain").passages == ()
    assert drain(searcher, "renew_token(queue)", fixed=True).passages == ()


def test_a_file_that_became_shorter_has_only_passages_that_are_left(searcher, tmp_path):
    (tmp_path / "src/a.py").write_text("".join(LONG.splitlines(keepends=True)[:20]))
    hit = drain(searcher, "renew the token and retry")
    assert hit.stale and hit.passages
    assert all(one.start_line <= 20 for one in hit.passages)
    assert all(at <= 20 for span in spans_of(hit) for at in span)
    assert snippet_lines(hit, "renew the token", "hybrid", 3)


CODE = "\n".join(["def f():", *(f"    step({number})" for number in range(2, 40))])


def shown(*passages: Passage, query: str = "renew token", count: int = 3, code: str = CODE) -> list[int]:
    hit = make_hit(code, start_line=1, signature="def f()", passages=passages)
    return [1 + at for at in snippet_lines(hit, query, "hybrid", count)]


def with_lines(lines: dict[int, str]) -> str:
    return "\n".join(lines.get(number, line) for number, line in enumerate(CODE.split("\n"), 1))


def test_lines_are_two_neighbours_of_the_best_passage_and_one_of_the_next():
    code = with_lines({15: "    token = renew(old)", 31: "    token()"})
    best, following = Passage(10, 20, 1.0), Passage(28, 35, 0.5)
    assert shown(best, following, code=code) == [15, 14, 31]
    assert shown(best, following, code=code, count=1) == [15]
    assert shown(best, code=code) == [15, 14, 16]
    assert shown(best, following, code=code, count=6) == [15, 14, 31, 16, 13, 32]


def test_the_signature_and_empty_lines_are_not_among_them():
    code = with_lines({2: "    renew(token)", 3: "", 4: "    }"})
    assert shown(Passage(1, 12, 1.0), code=code, count=2) == [2, 5]
    assert shown(Passage(1, 12, 1.0), query="nothing", count=2, code=code) == [7, 8]
