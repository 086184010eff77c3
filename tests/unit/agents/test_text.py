"""Answers as text for agents."""

from __future__ import annotations

from pathlib import Path

from codesearch.agents.text import hits_text
from codesearch.engine.answer import Answer
from codesearch.types import Hit

CODE = "def load(name):\n    first(name)\n    second(name)\n    third(name)\n    check(name)\n    return name"
HIT = Hit(
    rank=1,
    score=0.5,
    root="/src",
    path="check.py",
    language="python",
    kind="function",
    name="load",
    qualified_name="load",
    signature="def load(name)",
    docstring="",
    start_line=1,
    end_line=6,
    last_line=6,
    code=CODE,
    signals={},
)


def shown(query: str, mode: str) -> list[str]:
    answer = Answer(query, mode, "nbow", "cpu", 10, 0.1, [HIT])
    return hits_text(answer, Path("/src"), 3).splitlines()[1:]


def test_lines_are_those_that_match_the_query():
    assert shown("check", "hybrid") == [
        "  1: def load(name):",
        "  2:     first(name)",
        "  5:     check(name)",
    ]


def test_words_of_a_path_do_not_choose_the_lines_of_similar_code():
    assert shown("/src/check.py:3", "similar") == [
        "  1: def load(name):",
        "  2:     first(name)",
        "  3:     second(name)",
    ]
