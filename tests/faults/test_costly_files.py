"""Source files on which a parser needs too much time or memory cost one warning each."""

import os
import resource
import sys
from pathlib import Path

import pytest

from codesearch.build import parse
from codesearch.build.file_parser import TOO_COSTLY, FileParser
from codesearch.build.parse import extract_guarded, parse_files
from codesearch.config import IndexConfig, ParseConfig
from codesearch.errors import CodeSearchError
from codesearch.languages import language_named
from codesearch.languages.records import LANGUAGES
from codesearch.parsing.blocks import block_documents
from codesearch.parsing.walker import WalkConfig, WalkSummary, walk
from codesearch.store.manifest import ONLY_BLOCKS
from tests.conftest import write_tree

pytestmark = [
    pytest.mark.workers,
    pytest.mark.skipif(sys.platform != "linux", reason="needs the memory limit of Linux"),
]
PATTERNS = [
    "a<",
    "x=()=>",
    ".b()",
    "(",
    "[",
    "{",
    "<",
    "a(",
    "a.",
    "if (a)",
    "a?",
    "-",
    "!",
    '"${',
    "a,",
    "fn a(",
]
PATTERNS += ["class A{"]
EXTENSIONS = {spec.name: spec.extensions[0] for spec in LANGUAGES}
MAX_SECONDS, MAX_BYTES = 10, 1_000_000_000
GOOD = "def push(item):\n    return item\n"


def lines(pattern: str, count: int, language: str) -> str:
    return ("<?php\n" if language == "php" else "") + f"{pattern}\n" * count


class QuickParser(FileParser):
    """A parser whose workers give each file 0.3 seconds, from the moment when they receive it."""

    def __setstate__(self, state: object) -> None:
        parse.SECONDS, parse.SECONDS_PER_MB = 0.3, 0
        super().__setstate__(state)


def parsed(root: Path, tokenizer: Path, workers: int = 2, parser_type: type[FileParser] = FileParser):
    """Parse a tree; return the result of each file."""
    files = list(walk(root, WalkConfig(), WalkSummary()))
    parser = parser_type(root, IndexConfig(), tokenizer, 100)
    return {file.path: result for file, result in parse_files(parser, files, workers)}


def check_costs(root: Path, tokenizer: Path) -> None:
    """Parse a tree of one costly file and a good one within the limits.

    The file goes through up to three processes: with the good one, alone, and as plain text.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    results = parsed(root, tokenizer)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2 * MAX_SECONDS + 1
    assert after.ru_maxrss * 1024 < MAX_BYTES
    assert [row[1] for row in results.pop("good.py").rows] == ["push"]
    ((path, result),) = results.items()
    assert result.record.skipped in ("", ONLY_BLOCKS)
    assert result.record.warnings in (
        "",
        f"{path}: {TOO_COSTLY.format(result.record.language)}",
        f"{path}: nested so deep that definitions may be missing",
    )


@pytest.mark.parametrize(
    ("language", "pattern", "count"),
    [
        ("java", "a<", 50_000),
        pytest.param("java", "x=()=>", 4_000, marks=pytest.mark.thorough),
        pytest.param("csharp", "a<", 50_000, marks=pytest.mark.thorough),
    ],
)
def test_a_file_that_takes_gigabytes_costs_a_warning(tmp_path, tokenizer_path, language, pattern, count):
    name = f"bomb{EXTENSIONS[language]}"
    write_tree(tmp_path, {"good.py": GOOD, name: lines(pattern, count, language)})
    check_costs(tmp_path, tokenizer_path)


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("language", EXTENSIONS)
def test_no_pattern_takes_much_time_or_memory(tmp_path, tokenizer_path, language, pattern):
    count = 150_000 // (len(pattern) + 1)
    write_tree(tmp_path, {"good.py": GOOD, f"bomb{EXTENSIONS[language]}": lines(pattern, count, language)})
    check_costs(tmp_path, tokenizer_path)


@pytest.mark.thorough
def test_a_file_that_takes_minutes_costs_a_warning_in_a_pool(tmp_path, tokenizer_path, always_workers):
    write_tree(tmp_path, {"good.py": GOOD, "bomb.c": lines("x=()=>", 50_000, "c")})
    results = parsed(tmp_path, tokenizer_path)
    assert results["bomb.c"].record.warnings == f"bomb.c: {TOO_COSTLY.format('c')}"


@pytest.mark.parametrize(
    ("language", "pattern"),
    [
        pytest.param("c", "x=()=>", marks=pytest.mark.thorough),
        pytest.param("bash", ".b()", marks=pytest.mark.thorough),
        ("lua", "a<"),
    ],
)
def test_a_file_that_takes_minutes_becomes_plain_text(tmp_path, tokenizer_path, language, pattern):
    name = f"bomb{EXTENSIONS[language]}"
    write_tree(tmp_path, {"good.py": GOOD, name: lines(pattern, 50_000, language)})
    results = parsed(tmp_path, tokenizer_path, parser_type=QuickParser)
    assert results[name].record.warnings == f"{name}: {TOO_COSTLY.format(language)}"
    assert {(row[0], row[1]) for row in results[name].rows} == {("module", "bomb"), ("module", pattern)}
    assert [row[1] for row in results["good.py"].rows] == ["push"]


def test_blocks_cover_all_lines_of_a_file():
    source = "".join(f"word{number} = {number}\n" * 3 + "\n" for number in range(500)).encode()
    documents = list(block_documents(source, "a/b.c", language_named("c"), ParseConfig()))
    assert [document.name for document in documents[:2]] == ["b", "word69 = 69"] and len(documents) > 3
    covered = [line for document in documents for line in range(document.start_line, document.end_line + 1)]
    assert [line for line in covered if line % 4] == [line for line in range(1, 2000) if line % 4]
    assert documents[1].code == source[documents[1].start_byte : documents[1].end_byte].decode()


def test_similar_to_a_costly_file_is_one_error(tmp_path, monkeypatch):
    monkeypatch.setattr(parse, "SECONDS", 0.3)
    with pytest.raises(CodeSearchError, match="bomb.lua: the lua parser takes too much time or memory"):
        extract_guarded(b"a<\n" * 50_000, "bomb.lua", language_named("lua"), ParseConfig())


def test_a_parse_within_the_limits_gives_the_documents():
    found = extract_guarded(GOOD.encode(), "good.py", language_named("python"), ParseConfig())
    assert [(document.name, document.start_line) for document in found.documents] == [("push", 1)]


def test_a_query_in_a_small_tree_survives_a_costly_file(tmp_path, command, tiny_bundle):
    write_tree(tmp_path / "tree", {"good.py": GOOD, "bomb.java": lines("a<", 50_000, "java")})
    indexed = command("index", "tree", shipped=tiny_bundle)
    assert indexed.returncode == 0
    assert indexed.stderr == f"warning: bomb.java: {TOO_COSTLY.format('java')}\n"
    assert "good.py:1" in command("query", "push", "--root", "tree", shipped=tiny_bundle).stdout
    similar = command("similar", "tree/bomb.java:1", "--root", "tree", shipped=tiny_bundle)
    assert similar.returncode == 0 and not similar.stderr, "it reads the stored document and parses nothing"
    assert not list(Path(os.fspath(tmp_path)).glob("**/core*"))
