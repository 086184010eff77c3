"""Which way a conversion goes."""

from __future__ import annotations

import pytest

from codesearch.search.direction import Conversion, agreement, parse_conversion

INT_TO_STRING = Conversion("integer", "string")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("convert int to string", ("integer", "string")),
        ("how to convert a string into a number", ("string", "integer")),
        ("date from string", ("string", "date")),
        ("converting json to xml", ("json", "xml")),
        ("str2int", ("string", "integer")),
    ],
)
def test_a_conversion_is_found_with_its_two_sides(query: str, expected: tuple[str, str]) -> None:
    assert parse_conversion(query) == Conversion(*expected)


@pytest.mark.parametrize(
    "query",
    [
        "sort a list",
        "how to read a file",
        "extract data from html content",
        "copy a folder to a remote host",
        "to",
    ],
)
def test_other_queries_are_no_conversions(query: str) -> None:
    assert parse_conversion(query) is None


@pytest.mark.parametrize(
    ("name", "signature", "docstring"),
    [
        ("int_to_string", "def int_to_string(x)", ""),
        ("itoa", "func itoa(i int) string", ""),
        ("string_from_int", "def string_from_int(value)", ""),
        ("render", "def render(value)", "Convert an integer to its decimal string."),
        ("toString", "public static String toString(int number)", ""),
    ],
)
def test_what_goes_the_asked_way_agrees(name: str, signature: str, docstring: str) -> None:
    assert agreement(INT_TO_STRING, name, signature, docstring) > 0


@pytest.mark.parametrize(
    ("name", "signature", "docstring"),
    [
        ("stringToInt", "function stringToInt(text)", ""),
        ("str2int", "def str2int(s)", ""),
        ("atoi", "public static int atoi(String s)", ""),
        ("parseInt", "int parseInt(String s)", ""),
        ("convert", "def convert(value)", "Convert strings to numbers."),
    ],
)
def test_what_goes_the_other_way_disagrees(name: str, signature: str, docstring: str) -> None:
    assert agreement(INT_TO_STRING, name, signature, docstring) < 0


def test_what_speaks_of_neither_side_is_silent() -> None:
    assert agreement(INT_TO_STRING, "sort", "def sort(items)", "Sort items in place.") == 0


def test_as_in_prose_says_nothing() -> None:
    docstring = "Convert number (as integer or string) from one base to another."
    assert agreement(INT_TO_STRING, "convert_base", "def convert_base(value)", docstring) == 0


def test_only_the_first_paragraph_of_a_docstring_speaks() -> None:
    assert agreement(INT_TO_STRING, "f", "def f(x)", "Do it.\n\nConverts string to int.") == 0
