"""Long documents are cut into passages where statements begin."""

import pytest

from codesearch.config import ParseConfig
from codesearch.languages import language_named
from codesearch.parsing.extract import extract
from codesearch.parsing.passages import passages_of
from tests.conftest import LONG_FUNCTION


def passages(source: str, path: str = "a.py", language: str = "python") -> dict[str, list[tuple[int, int]]]:
    extraction = extract(source.encode(), path, language_named(language))
    config = ParseConfig(max_whole_lines=25, passage_lines=12, passage_slack=4)
    lines = source.split("\n")
    found = passages_of(extraction.documents, lines, extraction.depths, config)
    names = [document.qualified_name for document in extraction.documents]
    return dict(zip(names, found, strict=True))


def test_passages_of_a_long_function_begin_with_statements():
    found = passages(LONG_FUNCTION)["drain"]
    assert found == [(1, 11), (12, 23), (24, 35), (36, 41)]
    lines = LONG_FUNCTION.split("\n")
    assert all(lines[first - 1].startswith("    if") for first, _ in found[1:])


def test_a_short_function_has_no_passages():
    assert passages("def f():\n" + "    step()\n" * 24)["f"] == []
    assert passages("def f():\n" + "    step()\n" * 25)["f"] == [(1, 12), (13, 26)]
    assert passages("def f():\n" + "    step()\n" * 27)["f"] == [(1, 12), (13, 28)]
    assert passages("def f():\n" + "    step()\n" * 28)["f"] == [(1, 12), (13, 24), (25, 29)]


@pytest.mark.parametrize("path", ["tests/test_a.py", "vendor/a.py", "a_pb2.py"])
def test_tests_and_code_of_others_and_of_programs_have_no_passages(path):
    assert passages(LONG_FUNCTION, path)["drain"] == []


def test_a_passage_begins_at_the_least_nested_statement_near_its_end():
    source = "def f():\n" + "    a()\n" * 9 + "    if x:\n" + "        b()\n" * 5 + "    c()\n" * 14
    assert passages(source)["f"][0] == (1, 10)
    source = "def f():\n" + "    if x:\n" + "        b()\n" * 12 + "    c()\n" * 15
    assert passages(source)["f"][0] == (1, 14)


def test_every_line_of_a_long_function_is_in_one_passage():
    source = "void f() {\n" + "  a(\n    1,\n    2\n  );\n\n" * 40 + "}\n"
    found = passages(source, "a.c", "c")["f"]
    assert found[0][0] == 1 and found[-1][1] == 202
    for (_, last), (first, _) in zip(found, found[1:], strict=False):
        assert first == last + 1
    lines = source.split("\n")
    assert {lines[first - 1].strip() for first, _ in found[1:]} == {"a("}


def test_a_long_table_is_cut_between_its_rows():
    row = "    {\n        'name': 1,\n        'code': 2,\n    },\n"
    found = passages("TABLE = [\n" + row * 20 + "]\n")["TABLE"]
    lines = ("TABLE = [\n" + row * 20 + "]\n").split("\n")
    assert len(found) > 5
    assert {lines[first - 1] for first, _ in found[1:]} == {"    {"}


def test_long_top_level_code_has_passages():
    found = passages("setup(1)\n" * 40 + "def f():\n    return 1\n")
    assert found["a"] == [(1, 12), (13, 24), (25, 40)]


@pytest.mark.parametrize("ending", ["\n", ""])
def test_one_line_of_many_statements_has_no_passages(ending):
    assert passages("x = 1; " * 3000 + ending) == passages("x = 1; " * 3000)
