"""Patterns of ignore files that would be slow to match with one regular expression."""

from __future__ import annotations

import time

import pytest

from codesearch.parsing.ignore import BadPatternError, compile_lines, read_rules

LONG, DEEP = "a" * 203, "a/" * 1_500 + "b"


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


def test_a_very_long_pattern_is_ignored_or_refused():
    assert compile_lines(["a" * 5_000], strict=False) == []
    with pytest.raises(BadPatternError, match="4,096 characters"):
        compile_lines(["a" * 5_000], strict=True)


def test_equal_ignore_files_are_compiled_once(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("q*z?w\n*.o\n")
    first, second = read_rules(str(tmp_path / "a"), below="a/"), read_rules(str(tmp_path / "b"), below="b/")
    assert first.patterns is second.patterns and second.verdict("b/x.o")
