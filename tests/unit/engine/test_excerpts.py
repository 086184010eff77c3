"""Excerpts of ranked definitions."""

from dataclasses import replace

from codesearch.engine.excerpts import Excerpt, excerpts_of
from codesearch.types import Hit, Passage
from tests.records import make_hit

STEPS = [f"    step_{number}()" for number in range(2, 100)]


def long_hit(lines: dict[int, str], *passages: Passage) -> Hit:
    """Return a function of 100 lines with some other lines."""
    code = ["def load(name):", *STEPS, "    return name"]
    for number, text in lines.items():
        code[number - 1] = text
    hit = make_hit("\n".join(code), path="a.py", signature="def load(name)")
    return replace(hit, end_line=100, last_line=100, passages=passages)


def numbers(excerpt: Excerpt) -> list[int]:
    return [number for number, _ in excerpt.lines if number]


def test_definitions_share_the_lines_equally_and_short_ones_are_whole():
    short = make_hit("def two():\n    pass", path="b.py", signature="def two()", start_line=5)
    hits = [
        long_hit({}, Passage(30, 60, 0.9)),
        short,
        replace(long_hit({}, Passage(50, 80, 0.9)), path="c.py"),
    ]
    first, second, third = excerpts_of(hits, "anything", 22)
    assert (len(numbers(first)), numbers(second), len(numbers(third))) == (10, [5, 6], 10)
    assert second.is_whole and not first.is_whole


def test_the_words_of_the_query_choose_the_lines_of_the_best_passage():
    hit = long_hit(
        {40: "    refresh_token()", 70: "    refresh_token()"}, Passage(30, 50, 0.9), Passage(60, 80, 0.5)
    )
    (excerpt,) = excerpts_of([hit], "refresh the token", 5)
    assert 40 in numbers(excerpt) and max(numbers(excerpt)) < 60


def test_two_passages_that_are_nearly_as_good_share_the_lines():
    hit = long_hit(
        {40: "    refresh_token()", 70: "    refresh_token()"}, Passage(30, 50, 0.9), Passage(60, 80, 0.85)
    )
    (excerpt,) = excerpts_of([hit], "refresh the token", 8)
    assert {40, 70} <= set(numbers(excerpt))


def test_an_excerpt_begins_with_the_condition_around_it_and_where_its_variable_is_set():
    lines = {28: "    token = cache.get(name)", 29: "    if token.expired:", 30: "        refresh(token)"}
    (excerpt,) = excerpts_of([long_hit(lines, Passage(30, 34, 0.9))], "anything", 5)
    assert numbers(excerpt)[:4] == [1, 28, 29, 30] and excerpt.lines[1] == (0, "...")


def test_definitions_inside_of_each_other_share_an_excerpt():
    outer = long_hit({50: "    def renew(token):", 51: "        return token"}, Passage(45, 55, 0.9))
    inner = make_hit(
        "    def renew(token):\n        return token",
        path="a.py",
        signature="def renew(token)",
        start_line=50,
    )
    for hits in ([outer, inner], [inner, outer]):
        (excerpt,) = excerpts_of(hits, "renew a token", 20)
        assert excerpt.hit.name == outer.name and numbers(excerpt) == sorted(set(numbers(excerpt)))
        assert {50, 51} <= set(numbers(excerpt))


def test_many_definitions_have_places_only():
    hits = [replace(long_hit({}), path=f"{number}.py") for number in range(10)]
    assert [excerpt.lines for excerpt in excerpts_of(hits, "anything", 39)] == [()] * 10


def test_of_a_signature_the_line_with_the_name_is_shown():
    hit = long_hit({1: "static void", 2: "load(char *name)"}, Passage(30, 34, 0.9))
    hit = replace(hit, name="load", signature="static void load(char *name)")
    (excerpt,) = excerpts_of([hit], "anything", 5)
    assert numbers(excerpt)[0] == 2


def test_an_excerpt_has_no_documentation_and_does_not_end_in_a_comment():
    documented = {2: '    """Refresh the token', 3: "    or the token.", 4: '    """'}
    (excerpt,) = excerpts_of([long_hit({**documented, 9: "    refresh()"}, Passage(1, 12, 0.9))], "token", 5)
    assert {2, 3, 4}.isdisjoint(numbers(excerpt))
    commented = {40: "    # The token is refreshed", 41: "    # here."}
    (excerpt,) = excerpts_of([long_hit(commented, Passage(37, 41, 0.9))], "refresh the token", 4)
    assert numbers(excerpt)[-2:] == [42, 43]


def test_the_header_of_a_class_is_not_all_of_it():
    hit = replace(make_hit("class A:\n    size = 1", signature="class A", kind="class"), last_line=9)
    (excerpt,) = excerpts_of([hit], "anything", 9)
    assert numbers(excerpt) == [1, 2] and not excerpt.is_whole
