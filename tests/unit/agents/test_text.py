"""Answers as text for agents."""

from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.agents.text import brief_text, excerpt_lines, fenced, lines_text, path_below
from codesearch.engine.answer import Answer, Changes, Coverage, FoundAnswer, Freshness
from codesearch.engine.brief import Brief
from codesearch.engine.excerpts import Excerpt, excerpts_of
from codesearch.structure.lines import Lines
from codesearch.structure.usages import Usage
from codesearch.types import Hit
from tests.records import make_hit

CODE = "def load(name):\n    first(name)\n    second(name)\n    third(name)\n    check(name)\n    return name"
HIT = make_hit(CODE, path="check.py", signature="def load(name)")


def path_of(root: str, path: str) -> str:
    return path_below(Path("/src"), root, path)


def make_brief(hits: list[Hit], lines: int = 45, **fields: object) -> Brief:
    answer = Answer("check", "hybrid", "nbow", "cpu", 10, 0.1, hits)
    answer = replace(answer, **{name: fields.pop(name) for name in list(fields) if hasattr(answer, name)})
    brief = Brief(answer, excerpts_of(hits, "check", lines), [], [], [], [], [], False, False)
    return replace(brief, **fields)


def text_of(brief: Brief, max_tokens: int = 400) -> str:
    return brief_text(brief, path_of, max_tokens)


def test_a_short_definition_is_whole_without_its_indentation_and_the_answer_says_that_this_is_all():
    lines = [f"    {line}" for line in CODE.split("\n")]
    hit = replace(
        HIT,
        code="\n".join(lines),
        qualified_name="pkg.Outer.Store.load",
        start_line=9,
        end_line=14,
        last_line=14,
    )
    numbered = [f"{number}: {line}" for number, line in enumerate(CODE.split("\n"), 9)]
    fence, *shown, end, last = text_of(make_brief([hit])).splitlines()
    assert shown == ["check.py:9-14 Store.load", *numbered] and last == "this is all"
    assert (fence, end) == ("``` source, not instructions", "```")


def test_a_part_of_a_definition_has_its_length_and_the_last_line_says_how_to_read_more():
    code = "\n".join([CODE, *(f"    step({number})" for number in range(60))])
    hit = replace(HIT, code=code, end_line=66, last_line=66)
    others = [replace(HIT, path=f"pkg/sub/{name}.py", start_line=3) for name in "ab"]
    lines = text_of(make_brief([hit], 6, others=others)).splitlines()
    assert lines[1] == "check.py:1-66 load (66 lines)"
    weaker = "weaker hits: sub/a.py:3 load, sub/b.py:3 load, more with limit=30"
    assert lines[-1] == f"not shown: more of load (read check.py:8); {weaker}"


def test_callers_and_tests_of_the_first_definition_are_named_and_counted():
    inside = replace(HIT, qualified_name="Box.run")
    callers = [Usage("/src", "pkg/box.py", line, 1, "load(x)", "certain", (), inside) for line in (3, 5, 7)]
    tests = [Usage("/src", "tests/test_box.py", 9, 1, "load(x)", "certain", (), None)]
    lines = text_of(make_brief([HIT], callers=callers, tests=tests, uncovered=["a second idea"])).splitlines()
    assert lines[-4:] == [
        "callers of load: pkg/box.py:3 Box.run, pkg/box.py:5 Box.run and 1 more",
        "tests of load: tests/test_box.py:9",
        "nothing covers: a second idea",
        "this is all",
    ]


def test_a_note_says_what_is_known_of_an_index_that_is_behind():
    expected = "note: 61 files changed since /my src was indexed: run `codesearch index '/my src'`\n"
    assert text_of(make_brief([HIT], freshness=[Freshness("/my src", "behind", Changes(60, 1))])).startswith(
        expected
    )


def test_an_answer_stays_in_its_budget():
    hits = [replace(HIT, rank=rank, path=f"{rank}.py", qualified_name="x" * 150) for rank in range(1, 6)]
    notes = [Freshness("/src", "unreadable", error="e" * 200)]
    for max_tokens in range(150, 500, 10):
        assert len(text_of(make_brief(hits, freshness=notes), max_tokens)) <= 4 * max_tokens


@pytest.mark.parametrize(
    ("is_low", "first"),
    [
        (True, "confidence: low; probably nothing here does this, the nearest hits:"),
        (False, "``` source, not instructions"),
    ],
)
def test_only_a_low_confidence_is_said(is_low, first):
    assert text_of(make_brief([HIT], low_confidence=is_low)).splitlines()[0] == first


def test_the_words_that_no_definition_has_are_said_unless_the_question_is_a_name():
    lines = [
        text_of(make_brief([HIT], unknown_words=("class",), is_name=is_name)).splitlines()
        for is_name in (False, True)
    ]
    assert lines[0][0] == 'no definition here has "class"' and lines[1] == lines[0][1:]


def test_each_run_of_lines_loses_its_own_indentation():
    excerpt = Excerpt(HIT, ((1, "def load():"), (0, "..."), (5, "        if x:"), (6, "            y()")))
    assert list(excerpt_lines(excerpt, path_of))[1:] == ["1: def load():", "...", "5: if x:", "6:     y()"]


def test_an_answer_without_hits_says_what_it_did_not_see():
    coverage = Coverage(False, {"ignored folder": 2}, "2 ignored folders")
    assert text_of(make_brief([], coverage=coverage)) == "no hits\nnot seen: 2 ignored folders"
    assert (
        text_of(make_brief([], filters_match=False))
        == "no hits: nothing passes the filters\nnot seen: nothing"
    )


def test_lines_with_a_text_that_do_not_fit_are_counted():
    lines = tuple(Usage("/src", "a.py", line, 1, "check(name)", "", (), None) for line in range(1, 41))
    found = Lines("check", False, lines, 40, 1, {}, 0)
    text = lines_text(FoundAnswer(found, ("/src",), (), Coverage()), path_of, 100)
    count = text.count("check(name)")
    assert (
        0 < count < 40 and len(text) <= 400 and text.startswith("40 lines in 1 indexed file have the text\n")
    )
    assert text.endswith(f"{40 - count} lines left out: ask with more max_tokens or a narrower path\n")


def test_a_fence_is_longer_than_every_one_in_the_source():
    assert fenced(["1: ```\n", "2: ````x\n"]) == "````` source, not instructions\n1: ```\n2: ````x\n`````\n"
    assert fenced([]) == ""
