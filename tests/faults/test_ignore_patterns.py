"""Ignore files that would make a walk slow: slow patterns, many patterns, and many files."""

import time

import pytest

from codesearch.config import WalkConfig
from codesearch.errors import ConfigError
from codesearch.parsing.ignore import MOST_WEIGHT, BadPatternError, Patterns, RuleReader, read_patterns
from codesearch.parsing.walker import WalkSummary, walk
from tests.conftest import write_tree

LONG, DEEP = "a" * 203, "a/" * 1_500 + "b"


def verdict(patterns: Patterns, path: str, *, is_folder: bool = False) -> bool | None:
    *folders, name = path.split("/")
    return patterns.inside(folders).verdict(name, is_folder=is_folder)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a*a*a*a*a*c", LONG),
        ("*?*?*?*?*?*?*c", LONG),
        ("*[!b]*[!b]*[!b]*[!b]*[!b]*c", LONG),
        ("*" + "?" * 150 + "c", LONG),
        ("*" * 200 + "c", LONG),
        ("/".join(["*a*a*a"] * 40), LONG),
        ("**/a/**/a/**/a/**/a/**/c", DEEP),
        ("a*/**/a*/**/a*/**/a*/**/c", DEEP),
        ("**/*/**/*/**/*/**/c", DEEP),
    ],
)
def test_a_pattern_with_many_stars_is_quick(pattern, path):
    patterns = read_patterns([pattern], strict=True)
    started = time.process_time()
    assert verdict(patterns, path) is None
    assert time.process_time() - started < 0.5


def test_a_very_long_pattern_is_ignored_or_refused():
    assert read_patterns(["a" * 5_000], strict=False).is_empty
    with pytest.raises(BadPatternError, match="4,096 characters"):
        read_patterns(["a" * 5_000], strict=True)


def test_equal_ignore_files_are_read_once(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("q*z?w\n*.o\n")
    reader = RuleReader()
    first, second = (reader.read(str(tmp_path / name), [], below=f"{name}/") for name in "ab")
    assert first.patterns is second.patterns and second.inside("b/").verdict("x.o", is_folder=False)


def test_names_and_endings_are_looked_up_so_thousands_of_them_cost_nothing():
    lines = [line for i in range(3_000) for line in (f"name{i}.py", f"*.end{i}", f"/src/{i}/")]
    patterns = read_patterns(lines, strict=True)
    assert patterns.wildcards == () and patterns.weight == 0
    assert verdict(patterns, "x/name7.py") and verdict(patterns, "x/y.end2999")
    assert verdict(patterns, "src/8", is_folder=True) and verdict(patterns, "src/8") is None


def test_a_pattern_that_takes_more_time_weighs_more():
    lines = ["*.py[cod]", "a*b*c", "a*bbbb*c", "?" * 160, "**/a/**/?", "?/b/?"]
    weights = [read_patterns([line], strict=True).weight for line in lines]
    assert weights == [1, 2, 5, 11, 52, 3]


def test_an_ignore_file_with_too_many_wildcards_is_not_applied_and_named(tmp_path):
    many = "".join(f"?{number}*\n" for number in range(MOST_WEIGHT + 1))
    write_tree(tmp_path, {"a.py": "", "b.py": "", "sub/b.py": "", ".gitignore": f"{many}*.py\n"})
    write_tree(tmp_path, {"sub/.gitignore": "b.*y\n"})
    report = WalkSummary()
    assert [file.path for file in walk(tmp_path, WalkConfig(), report)] == ["a.py", "b.py"]
    assert report.warnings == [
        ".gitignore: too many patterns with wildcards (5,001 in this file): its rules are not applied"
    ]
    assert report.skipped["rules"] == {".gitignore": 1}


def test_the_wildcards_of_the_folders_above_count_too(tmp_path):
    rules = "".join(f"?{number}*\n" for number in range(2_000))
    write_tree(tmp_path, {f"{'d/' * depth}.gitignore": f"{rules}{depth}.*\n" for depth in range(4)})
    write_tree(tmp_path, {f"{'d/' * 4}{number}.py": "" for number in range(4)})
    report = WalkSummary()
    assert [file.path[-4:] for file in walk(tmp_path, WalkConfig(), report)] == ["2.py", "3.py"]
    assert [line.partition(":")[0] for line in report.warnings] == ["d/d/.gitignore", "d/d/d/.gitignore"]


def test_different_wildcards_of_a_tree_have_a_limit(tmp_path):
    for number in range(4):
        lines = [*(f"?{number}x{line}*" for line in range(3_000)), "a.*"]
        write_tree(tmp_path, {f"{number}/.gitignore": "\n".join(lines), f"{number}/a.py": ""})
    report = WalkSummary()
    assert [file.path for file in walk(tmp_path, WalkConfig(), report)] == ["3/a.py"]
    assert [line.partition(":")[0] for line in report.warnings] == ["3/.gitignore"]


def test_a_folder_has_at_most_fifty_ignore_files_above_it(tmp_path):
    write_tree(tmp_path, {f"{'d/' * depth}.gitignore": f"a{depth}.py\n" for depth in range(52)})
    write_tree(tmp_path, {f"{'d/' * 52}a{number}.py": "" for number in range(52)})
    report = WalkSummary()
    names = [file.path.rpartition("/")[2] for file in walk(tmp_path, WalkConfig(), report)]
    assert names == ["a49.py", "a50.py", "a51.py"]  # One of the fifty is for --exclude.
    assert "more than 50 ignore files in the folders above" in report.warnings[0]


def test_too_many_patterns_to_exclude_are_an_error(tmp_path):
    with pytest.raises(ConfigError, match="exclude: 6,000 patterns with wildcards are too many: give fewer"):
        list(walk(tmp_path, WalkConfig(exclude=tuple(f"?{n}*" for n in range(6_000))), WalkSummary()))


def test_a_walk_keeps_a_thousand_warnings_and_counts_the_others():
    report = WalkSummary()
    for number in range(1_003):
        report.warn(str(number))
    assert len(report.warnings) == 1_001
    assert report.warnings[999:] == ["999", "3 more, of which only the number is kept"]
