"""`codesearch export FILE`, `import` and `query --index`, as a user runs them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.command import Command
from tests.conftest import index_by_engine


@pytest.fixture
def exported(tiny_repo: Path, home: Path, command: Command) -> Path:
    index_by_engine(tiny_repo, home)
    done = command("export", "x.codesearch", "--root", tiny_repo, "--with-code")
    assert (done.returncode, done.stderr) == (0, "")
    line = r"x\.codesearch: 13 documents from 6 files of 1 indexed folder in \d+\.\d s, \d+ kB\n"
    assert re.fullmatch(line, done.stdout)
    return command.folder / "x.codesearch"


def test_another_home_imports_and_searches_a_file(exported, command, tmp_path):
    other = replace(command, home=tmp_path / "other")
    query = ("query", "pop", "-k", "1", "--compact")
    asked = other(*query, "--index", exported)
    assert asked.stdout == "tiny/python/convert.py:21  Stack.pop  method, 3 lines\n"
    assert asked.stderr == "note: the sources of tiny are not here: hits have the code that was indexed\n"
    done = other("import", exported)
    assert re.fullmatch(
        r"imported tiny: 13 documents from 6 files in \d\.\d s\nsearch it with `--root tiny`\n", done.stdout
    )
    assert other(*query, "--root", "tiny").stdout == asked.stdout
    assert other("status").stdout.startswith("tiny  (imported with code)\n")


def test_a_file_that_is_not_portable_is_a_one_line_error(command):
    (command.folder / "notes.txt").write_text("notes")
    for arguments in (("import", "notes.txt"), ("query", "push", "--index", "notes.txt")):
        done = command(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert re.fullmatch(r"error: notes\.txt is damaged or not a portable file \(.*\): .*\n", done.stderr)
