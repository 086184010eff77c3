"""Regular expressions are matched in limited time."""

import pytest

from codesearch.errors import ConfigError
from codesearch.search import patterns
from codesearch.search.patterns import TextPattern


def test_an_expression_that_takes_too_long_is_an_error(monkeypatch):
    monkeypatch.setattr(patterns, "_SECONDS", 0.05)
    pattern = TextPattern("(a|aa)+$", is_pattern=True)
    hard = "a" * 60 + "b"
    with pytest.raises(ConfigError, match="takes too long to match"):
        list(pattern.of_bytes().finditer(hard.encode()))
    assert pattern.first(hard, 0, len(hard)) is None


def test_a_repeated_group_may_have_a_repetition():
    found = TextPattern(r"(\w+,)+", is_pattern=True).finditer("one,two, three")
    assert [match.span() for match in found] == [(0, 8)]


def test_a_text_stands_for_itself_in_any_case_if_that_is_asked_for():
    assert TextPattern("a.b(", ignore_case=True).first("xA.B(", 0, 5) == 1
    assert TextPattern("a.b(").first("xA.B(", 0, 5) is None
