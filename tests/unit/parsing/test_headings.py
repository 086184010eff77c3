"""Headings, and lines that only look like headings."""

import pytest

from codesearch.parsing.sections import front_matter_end, markdown_cuts, underlined_cuts


def markdown(text: str) -> list[tuple[int, int, str]]:
    """Return (row, level, title) of each heading."""
    return [(cut.row, cut.level, cut.title) for cut in markdown_cuts(text.split("\n"))]


def underlined(text: str) -> list[tuple[int, int, str]]:
    return [(cut.row, cut.level, cut.title) for cut in underlined_cuts(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\n\n## Two", [(0, 1, "One"), (2, 2, "Two")]),
        ("   ###### Six ##", [(0, 6, "Six")]),
        ("# C# in a day", [(0, 1, "C# in a day")]),
        ("Title\n=====\ntext\n\nPart\n---", [(0, 1, "Title"), (4, 2, "Part")]),
        ('<h1 align="center">Logo</h1>', [(0, 1, "Logo")]),
        ("#", [(0, 1, "")]),
    ],
    ids=["marks", "closing marks", "mark inside", "underlines", "html", "empty"],
)
def test_headings_of_markdown(text, expected):
    assert markdown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# comment\n```",
        "~~~\n# comment\nTitle\n=====\n~~~",
        "````\n```\n# comment\n````",
        "- ```sh\n  # comment\n  ```",
        "1. step\n   ```\n   # comment\n   ```",
        "```\n# never closed",
        "    # indented code",
        "\t# indented code",
        "#hashtag",
        "####### seven",
        "<!--\n# hidden\n-->",
        "---\n# comment\ntitle: x\n---",
        "+++\ntitle = 'x'\n# comment\n+++",
        "text\n\n---\n\nmore",
        "two lines\nof text\n---",
        "- item\n---",
        "| a |\n---",
        "> quoted\n---",
    ],
)
def test_lines_that_are_not_headings_of_markdown(text):
    assert markdown(text) == []


def test_headings_after_a_code_block_and_a_comment_are_found():
    text = "```python\n# no\n```\n# One\n<!--\n# no\n--> \n# Two\nUse ```x``` here.\n# Three\n"
    assert [title for _, _, title in markdown(text)] == ["One", "Two", "Three"]


def test_a_horizontal_rule_in_the_first_line_is_not_front_matter():
    assert front_matter_end(["---", "", "# Title", "---"]) == 0
    assert front_matter_end(["---", "title: x"]) == 0
    assert front_matter_end(["---", "title: x", "---", "text"]) == 3
    assert front_matter_end([]) == 0


@pytest.mark.parametrize(
    "text",
    [
        "text\n\n----\n\ntext",
        "a line\nand another\n-----------",
        "::\n\n    Indented\n    ========",
        "  Indented\n  --------",
        "=====  =====\nName   Value\n=====  =====",
        ">>> call()\n...\n",
        "A long title\n---",
        "....\n====",
        "Directive::\n\n  text",
    ],
)
def test_lines_that_are_not_underlined_headings(text):
    assert underlined(text) == []
