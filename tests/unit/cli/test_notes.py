"""Numbers with their nouns, and the list of files that are not indexed."""

import pytest

from codesearch.cli.invocation import notes_of, size_of
from codesearch.engine.answer import counts, not_indexed
from codesearch.store.manifest import OTHER
from codesearch.types import Coverage


def lines(files: dict[str, dict[str, int]], folders: dict[str, dict[str, int]] | None = None) -> list[str]:
    return list(not_indexed(files, folders or {}))


def test_a_list_never_ends_with_one_more():
    assert counts(dict.fromkeys("abcdef", 1)) == "a 1, b 1, c 1, d 1, e 1, f 1"
    assert counts(dict.fromkeys("abcdefg", 1)) == "a 1, b 1, c 1, d 1, e 1, and 2 more"


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 kB"), (1, "1 kB"), (12_001, "13 kB"), (1_000_000, "1.0 MB"), (1_234_000_000, "1,234.0 MB")],
)
def test_a_small_size_is_not_shown_as_zero_megabytes(count, told):
    assert size_of(count) == told


def test_many_results_say_only_that_files_were_not_read():
    for reason, note in (("not read", "note: not seen: 2 files\n"), ("hidden", "")):
        assert notes_of((), Coverage(False, {reason: 2}, "2 files"), is_few=False) == note
        assert notes_of((), Coverage(False, {reason: 2}, "2 files"), is_few=True).endswith("2 files\n")


def test_if_everything_is_indexed_there_are_no_lines():
    assert lines({}) == []
    assert lines({"binary": {}}) == []


def test_each_reason_is_a_line_with_the_most_frequent_kinds_first():
    assert lines(
        {
            "minified": {".js": 14},
            "other content": {".yml": 32, ".md": 1120, ".json": 60, ".a": 1, ".b": 1, ".c": 1, OTHER: 40},
            "too large": {".js": 1},
        },
        {"always": {"node_modules": 2, "__pycache__": 14}, "hidden": {".venv": 1}},
    ) == [
        "  not indexed",
        "    1,255 files that --content would add (.md 1,120, .json 60, and 5 more)",
        "    1 file over the limit of --max-file-mb (.js 1)",
        "    14 minified files (.js 14)",
        "    1 hidden folder (.venv 1)",
        "    16 folders that are always skipped (__pycache__ 14, node_modules 2)",
    ]
