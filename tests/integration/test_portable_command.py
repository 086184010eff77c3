"""`codesearch export FILE` and `import`, as a user runs them."""

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
    line = r"x\.codesearch: 13 documents from 6 files in \d+\.\d s, \d+ kB\n"
    assert re.fullmatch(line, done.stdout)
    return command.folder / "x.codesearch"


def test_another_home_imports_and_searches_a_file(exported, command, tmp_path):
    other = replace(command, home=tmp_path / "other")
    done = other("import", exported)
    assert re.fullmatch(
        r"imported tiny: 13 documents from 6 files in \d\.\d s\nsearch it with `--root tiny`\n", done.stdout
    )
    asked = other("query", "pop", "-k", "1", "--compact", "--root", "tiny")
    assert asked.stdout == "tiny/python/convert.py:21  Stack.pop  method, 3 lines\n"
    assert asked.stderr == "note: the sources of tiny are not here: hits have the code that was indexed\n"
    assert other("status").stdout.startswith("tiny  (imported with code)\n")


def test_a_file_that_is_not_portable_is_a_one_line_error(command):
    (command.folder / "notes.txt").write_text("notes")
    assert re.fullmatch(
        r"error: notes\.txt is damaged or not a portable file \(.*\): .*\n",
        command.fails("import", "notes.txt"),
    )


def test_a_query_of_a_file_says_that_it_is_imported_first(command):
    said = command.fails("query", "push", "--index", "x.codesearch")
    cure = "run `codesearch import FILE`, then search with `--root NAME`"
    assert said == f"error: no such option: --index: {cure}\n"


@pytest.mark.parametrize("with_code", [True, False])
def test_outline_read_usages_and_exact_text_work_on_an_imported_index_or_say_why_not(
    tiny_repo, home, command, with_code
):
    (tiny_repo / "python/__init__.py").write_text('"""Everything in Python."""\n')  # It has no documents.
    (tiny_repo / "python/more.py").write_text("def more(stack):\n    return stack.sortStrings(1)\n")
    index_by_engine(tiny_repo, home)
    assert command("export", "x", "--root", tiny_repo, *["--with-code"] * with_code).returncode == 0
    assert command("import", "x", "--name", "x").returncode == 0
    at = ("--root", "x")
    assert "  python/      Everything in Python. (" in command("outline", *at).stdout
    assert "    14  class Stack  A last in, first out container.\n" in command("outline", "Stack", *at).stdout
    found = [
        command("read", "Stack.push", *at),
        command("usages", "sortStrings", "--all-code", *at),
        command("query", "-F", "self.items.append(", *at),
    ]
    if with_code:
        shown = ("19 |         self.items.append(item)", "return stack.sortStrings(1)", "Stack.push")
        assert all(text in done.stdout for text, done in zip(shown, found, strict=True))
    else:
        assert [done.returncode for done in found] == [2, 2, 2]
        why = re.compile("error: x has no code to look in: .*\n")
        assert all(why.fullmatch(done.stderr) for done in found)
