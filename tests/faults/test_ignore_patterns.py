"""Patterns of ignore files that are slow to match with a regular expression."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from codesearch.parsing.ignore import BadPatternError, Pattern, compile_lines

LONG, DEEP = "a" * 203, "a/" * 1_500 + "b"
PIECES = st.lists(st.sampled_from(["a", "b", "*", "*", "?", "/", "**/", "/**/", "[ab]", "[!a]"]), max_size=9)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a*a*a*a*a*c", LONG),
        ("*?*?*?*?*?*?*c", LONG),
        ("*[!b]*[!b]*[!b]*[!b]*[!b]*c", LONG),
        ("*" * 200 + "c", LONG),
        ("/".join(["*a*a*a"] * 40), LONG),
        ("**/a/**/a/**/a/**/a/**/c", DEEP),
        ("a*/**/a*/**/a*/**/a*/**/c", DEEP),
        ("**/*/**/*/**/*/**/c", DEEP),
    ],
)
def test_a_pattern_with_many_stars_is_quick(pattern, path):
    (compiled,) = compile_lines([pattern], strict=True)
    started = time.process_time()
    assert not compiled.matches(path)
    assert time.process_time() - started < 0.5


@given(PIECES.map("".join), st.text("ab/", min_size=1, max_size=12))
def test_a_pattern_matches_as_in_the_pathspec_library(pattern, path):
    path = re.sub("/+", "/", path).lstrip("/") or "a"
    try:
        regex, ignores = GitIgnoreSpecPattern.pattern_to_regex(pattern)
    except ValueError:
        with pytest.raises(BadPatternError):
            compile_lines([pattern], strict=True)
        return
    compiled = compile_lines([pattern], strict=True)
    if regex is None or ignores is None:
        assert compiled == []
        return
    slow = Pattern(re.compile(regex.replace("[^a]", "(?!/)[^a]")), ignores)  # In git, [...] matches no slash.
    assert compiled[0].matches(path) == slow.matches(path)


def test_a_very_long_pattern_is_ignored_or_refused():
    assert compile_lines(["a" * 5_000], strict=False) == []
    with pytest.raises(BadPatternError, match="4,096 characters"):
        compile_lines(["a" * 5_000], strict=True)
