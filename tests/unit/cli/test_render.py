"""An answer -> text: the same answer and the same terminal give the same text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codesearch.cli.hits import MAX_LINE, snippet
from codesearch.cli.invocation import Terminal
from codesearch.cli.render import render
from codesearch.engine.answer import Answer
from codesearch.types import Hit

HIT = Hit(
    rank=1,
    score=0.5,
    root="/src",
    path="a/b.py",
    language="python",
    kind="function",
    name="read",
    qualified_name="File.read",
    signature="def read(self)",
    docstring="Read – all of it.",
    start_line=3,
    end_line=4,
    code="def read(self):\n    return 1",
    signals={"cosine": 0.25, "name": 0.0},
)
ANSWER = Answer("read", "hybrid", "nbow", "cpu", 1200, 0.0123, [HIT])
HERE = Terminal(Path("/src"))


def test_without_a_terminal_it_is_plain_text():
    assert render(ANSWER, "text", HERE) == (
        " 1  0.500  a/b.py:3  function File.read\n    def read(self)\n       3 | def read(self):\n"
        "       4 |     return 1\n\n1 answer from 1,200 documents in 12 ms, nbow on cpu\n"
    )


@pytest.mark.parametrize(
    ("count", "told"), [(0, ""), (1, "  +1 copy"), (3, "  +3 copies"), (1200, "  +1,200 copies")]
)
def test_a_hit_says_how_many_copies_it_has(count, told):
    answer = replace(ANSWER, hits=[replace(HIT, copies=("dist/b.py:9",) * min(count, 10), copy_count=count)])
    assert render(answer, "text", HERE).splitlines()[0] == f" 1  0.500  a/b.py:3  function File.read{told}"
    assert f"File.read{told}\x1b[0m" in render(answer, "text", replace(HERE, is_terminal=True, width=60))
    assert render(answer, "vimgrep", HERE) == "a/b.py:3:1:def read(self)\n"
    assert json.loads(render(answer, "jsonl", HERE))["copy_count"] == count


def test_paths_are_relative_only_below_the_working_directory():
    assert render(ANSWER, "vimgrep", HERE) == "a/b.py:3:1:def read(self)\n"
    assert render(ANSWER, "vimgrep", Terminal(Path("/src/a"))) == "b.py:3:1:def read(self)\n"
    assert render(ANSWER, "vimgrep", Terminal(Path("/other"))) == "/src/a/b.py:3:1:def read(self)\n"


@pytest.mark.parametrize(("encoding", "escaped"), [("utf-8", False), ("UTF8", False), ("ascii", True)])
def test_json_is_escaped_for_an_encoding_that_needs_it(encoding, escaped):
    text = render(ANSWER, "json", Terminal(Path("/src"), encoding=encoding))
    assert ("\\u2013" in text) is escaped
    assert json.loads(text)["hits"][0]["docstring"] == HIT.docstring
    assert json.loads(render(ANSWER, "jsonl", HERE)) == json.loads(text)["hits"][0]


def test_colours_are_those_that_the_terminals_variables_allow():
    on = replace(HERE, is_terminal=True, width=60, variables={"TERM": "xterm-256color"})
    assert "\x1b[" in render(ANSWER, "text", on)
    off = replace(on, variables={"TERM": "xterm-256color", "NO_COLOR": "1"})
    assert "\x1b[36m" not in render(ANSWER, "text", off)


def test_a_snippet_has_its_context_and_no_more_lines_than_are_shown():
    long = replace(
        HIT, code="\n".join(f"    line {n}" for n in range(20)), before=("# above",), after=("# below",)
    )
    numbers = [number for number, _ in snippet(long)]
    assert numbers == [2, 3, 4, 5, 6, 7, 8, 9]
    short = replace(HIT, before=("# above",), after=("# below",))
    assert list(snippet(short)) == [
        (2, "# above"),
        (3, "def read(self):"),
        (4, "    return 1"),
        (5, "# below"),
    ]


def test_a_long_line_is_cut():
    assert [line for _, line in snippet(replace(HIT, code="x" * 500))] == ["x" * MAX_LINE]


def test_signals_are_shown_on_request():
    assert "cosine 0.250  name 0.000" in render(ANSWER, "text", HERE, explain=True)
    assert "cosine" not in render(ANSWER, "text", HERE)
