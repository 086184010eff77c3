"""`codesearch lsp` answers about the name at the cursor, as the text is in the editor."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.lsp import Editor, opened

pytest.importorskip("pygls")

FILES = {
    "pyproject.toml": "",
    "shop/text.py": '''"""Words."""


def int_to_text(number):
    """Write a number as text,
    with spaces.

    Slowly.
    """
    return str(number)
''',
    "shop/use.py": """from shop.text import int_to_text
from shop.text import int_to_text as write


def show(number):
    x = "😀" + int_to_text(number)  # int_to_text
    return x + write(number)


def show_all(numbers):
    found = [show(number) for number in numbers]
    return found
""",
    "shop/other.py": "def int_to_text():\n    int_to_text()\n\n\ndef found():\n    return 1\n",
    "tests/test_text.py": """from shop.text import int_to_text


def test_a_number_is_written():
    assert int_to_text(1) == "1"
""",
    "shapes/shape.ts": """export interface Shape {
  area(): number;
}

export class Square implements Shape {
  area(): number {
    return 1;
  }
}
""",
    "shapes/util.ts": "export function sum() {}\n",
    "shapes/all.ts": "import * as util from './util';\nimport { sum as add } from './util';\nutil.sum();\nadd();\n",
    "shapes/values.ts": "export const util = 1;\n",
    "shapes/base.py": '''class Base:
    def draw(self):
        """Draw it."""


class Circle(Base):
    def draw(self):
        return 1


def paint(item: Base):
    item.draw()
    unknown().draw()
''',
}


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with opened(tmp_path_factory.mktemp("lsp"), FILES) as editor:
        yield editor


def places(editor: Editor, locations: list[dict[str, Any]] | None) -> list[str] | None:
    return None if locations is None else list(map(editor.place, locations))


def used(editor: Editor, path: str, line: int, character: int, *, declared: bool = False) -> list[str] | None:
    context = {"includeDeclaration": declared}
    return places(editor, editor.at(path, line, character, "references", context=context))


def defined(editor: Editor, path: str, line: int, character: int) -> list[str] | None:
    return places(editor, editor.at(path, line, character, "definition"))


def test_a_name_means_what_its_file_imports(editor):
    """The smile is two code units in UTF-16. What is in a comment is no use."""
    expected = ["shop/use.py 0:22-33", "shop/use.py 1:22-33", "shop/use.py 5:15-26", "shop/use.py 6:15-20"]
    expected.append("tests/test_text.py 0:22-33")
    expected.append("tests/test_text.py 4:11-22")
    for character in (15, 20, 26):
        assert defined(editor, "shop/use.py", 5, character) == ["shop/text.py 3:4-15"]
        assert used(editor, "shop/use.py", 5, character) == expected
    assert used(editor, "shop/text.py", 3, 4, declared=True) == ["shop/text.py 3:4-15", *expected]
    assert defined(editor, "shop/other.py", 1, 4) == ["shop/other.py 0:4-15"]
    assert used(editor, "shop/other.py", 0, 6) == ["shop/other.py 1:4-15"]


def test_a_name_that_an_import_changes_leads_to_the_definition(editor):
    assert defined(editor, "shop/use.py", 6, 16) == ["shop/text.py 3:4-15"]
    assert defined(editor, "shapes/all.ts", 3, 1) == ["shapes/util.ts 0:16-19"]
    assert defined(editor, "shapes/all.ts", 2, 6) == ["shapes/util.ts 0:16-19"]


REQUESTS = ("definition", "implementation", "documentHighlight", "hover", "prepareCallHierarchy")


@pytest.mark.parametrize(
    ("path", "line", "character"),
    [
        ("shop/use.py", 5, 4),  # A local variable.
        ("shop/use.py", 10, 6),  # A local variable with the name of a function elsewhere.
        ("shop/text.py", 9, 12),  # A function of Python.
        ("shop/use.py", 5, 40),  # A comment.
        ("shapes/all.ts", 2, 1),  # A module with the name of a constant elsewhere.
        ("shop/use.py", 3, 0),
        ("shop/use.py", 999, 0),
        ("shop/gone.py", 0, 0),
    ],
)
def test_another_server_may_answer_what_is_not_known(editor, path, line, character):
    assert [editor.at(path, line, character, request) for request in REQUESTS] == [None] * len(REQUESTS)
    assert used(editor, path, line, character) is None


def test_a_text_that_has_no_file_is_not_known(editor):
    document, position = {"uri": "untitled:Untitled-1"}, {"line": 0, "character": 0}
    assert editor.ask("textDocument/hover", textDocument=document, position=position) is None
    assert editor.ask("textDocument/documentSymbol", textDocument=document) is None


def test_lines_are_those_of_the_editor(editor):
    """The file is changed and not saved: lines are inserted, a function is typed, and a use is deleted."""
    text = editor.open("shop/use.py")
    try:
        typed = "\n\ndef just_typed(number):\n    return show(number)\n\n\ny = just_typed(1)\n"
        text = text.replace("    return x + write(number)", "    return x")
        text = text.replace("from shop.text import int_to_text as write\n", "")
        editor.change("shop/use.py", "\n" * 10 + text + typed)
        assert defined(editor, "shop/use.py", 27, 6) == ["shop/use.py 23:4-14"]
        assert used(editor, "shop/use.py", 23, 5) == ["shop/use.py 27:4-14"]
        of_text = used(editor, "shop/text.py", 3, 4)
        assert of_text == [
            "shop/use.py 10:22-33",
            "shop/use.py 14:15-26",
            "tests/test_text.py 0:22-33",
            "tests/test_text.py 4:11-22",
        ]
        assert used(editor, "shop/use.py", 13, 5) == ["shop/use.py 19:13-17", "shop/use.py 24:11-15"]
        assert defined(editor, "shop/use.py", 19, 14) == ["shop/use.py 13:4-8"]
    finally:
        editor.close("shop/use.py")
    assert defined(editor, "shop/use.py", 10, 14) == ["shop/use.py 4:4-8"]


def test_a_file_that_was_never_saved_has_definitions(editor):
    editor.open(
        "shop/new.py", "from shop.use import show\n\n\ndef brand_new():\n    show(1)\n\n\nbrand_new()\n"
    )
    try:
        assert defined(editor, "shop/new.py", 7, 2) == ["shop/new.py 3:4-13"]
        assert used(editor, "shop/use.py", 4, 5) == [
            "shop/use.py 10:13-17",
            "shop/new.py 0:21-25",
            "shop/new.py 4:4-8",
        ]
    finally:
        editor.close("shop/new.py")


def test_changes_below_a_form_feed_are_where_the_editor_made_them(editor):
    sync = editor.capabilities["textDocumentSync"]
    assert sync["change"] == 1, "the client sends the whole text"
    editor.open("shop/feed.py", "x = 1\n\x0c\n\n\x85\ndef after_feed():\n    pass\n\n\nafter_feed()\n")
    assert defined(editor, "shop/feed.py", 8, 2) == ["shop/feed.py 4:4-14"]
    editor.close("shop/feed.py")


def test_hover_shows_the_signature_the_documentation_and_how_often_it_is_used(editor):
    hover = editor.at("shop/use.py", 5, 20, "hover")
    assert hover["contents"] == {
        "kind": "markdown",
        "value": "```python\ndef int_to_text(number)\n```\n\nWrite a number as text, with spaces.\n\n2 calls, 1 test",
    }
    hover = editor.at("shapes/base.py", 0, 6, "hover")
    assert hover["contents"]["value"] == "```python\nclass Base\n```\n\n2 uses, no tests"


def test_implementations_are_derived_types_and_overriding_methods(editor):
    def derived(*at: Any) -> list[str] | None:
        return places(editor, editor.at(*at, "implementation"))

    assert derived("shapes/base.py", 0, 7) == ["shapes/base.py 5:6-12"]
    assert derived("shapes/base.py", 1, 9) == ["shapes/base.py 6:8-12"]
    assert derived("shapes/shape.ts", 0, 18) == ["shapes/shape.ts 4:13-19"]
    assert derived("shop/text.py", 3, 5) is None


def test_uses_that_are_only_possible_are_counted_in_a_message(editor):
    editor.said.clear()
    assert used(editor, "shapes/base.py", 1, 9) == ["shapes/base.py 11:9-13"]
    editor.ask("workspace/symbol", query="draw")  # The message follows the answer.
    assert editor.said == [
        "codesearch: 1 more line may use draw: `codesearch usages draw --all-code` lists all"
    ]


def test_the_file_shows_what_is_meant(editor):
    marked = editor.at("shop/use.py", 5, 16, "documentHighlight")
    ranges = [(one["range"]["start"]["line"], one["range"]["start"]["character"]) for one in marked]
    assert ranges == [(0, 22), (1, 22), (5, 15)]


def calls(editor: Editor, item: dict[str, Any], way: str, end: str) -> list[tuple[str, list[int]]]:
    found = editor.ask(f"callHierarchy/{way}Calls", item=item)
    return [(one[end]["name"], [at["start"]["line"] for at in one["fromRanges"]]) for one in found]


def test_a_call_hierarchy_goes_both_ways(editor):
    (item,) = editor.at("shop/use.py", 4, 5, "prepareCallHierarchy")
    assert (item["name"], item["kind"], item["detail"]) == ("show", 12, "shop/use.py:5")
    assert item["range"] == {"start": {"line": 4, "character": 0}, "end": {"line": 6, "character": 28}}
    assert item["selectionRange"] == {
        "start": {"line": 4, "character": 4},
        "end": {"line": 4, "character": 8},
    }
    assert calls(editor, item, "incoming", "from") == [("show_all", [10])]
    assert calls(editor, item, "outgoing", "to") == [("int_to_text", [5, 6])]
    (text,) = editor.at("shop/text.py", 3, 5, "prepareCallHierarchy")
    assert calls(editor, text, "incoming", "from") == [("show", [5, 6]), ("test_a_number_is_written", [4])]
    (draw,) = editor.at("shapes/base.py", 1, 9, "prepareCallHierarchy")
    assert calls(editor, draw, "incoming", "from") == [("paint", [11])], "the declared type tells"
