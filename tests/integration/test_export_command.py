"""`codesearch export --sqlite`: one file that `sqlite-utils` reads, or a one-line error."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.command import Command


@pytest.fixture
def sqlite_utils(command: Command):
    """Run `sqlite-utils` on the export; return its rows."""
    cli = pytest.importorskip("sqlite_utils.cli", reason="sqlite-utils is not installed").cli

    def run(name: str, *arguments: str) -> list[dict]:
        done = CliRunner().invoke(cli, [name, str(command.folder / "code.db"), *arguments])
        assert done.exit_code == 0, done
        return json.loads(done.stdout)

    return run


@pytest.fixture
def exported(indexed: Path, command: Command) -> Path:
    """The export of the tiny repository, in `code.db` of the folder of the command."""
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"code\.db: 13 documents from 6 files in \d+\.\d s, \d+ kB\n", done.stdout)
    return command.folder / "code.db"


def test_sqlite_utils_lists_tables_and_views_and_searches(exported, sqlite_utils, indexed):
    tables = sqlite_utils("tables", "--counts")
    counts = {table["table"]: table["count"] for table in tables if "_fts" not in table["table"]}
    assert counts == {"indexes": 1, "files": 6, "definitions": 13, "members": 0}
    columns = ("-c", "path", "-c", "start_line", "-c", "name")
    assert sqlite_utils("search", "definitions", "parse json", *columns) == [
        {"path": "javascript/http.js", "start_line": 4, "name": "getJson"}
    ]
    push = [row["code"].splitlines()[0] for row in sqlite_utils("search", "definitions", "push")]
    assert push == ["  def push(element, priority)", "    def push(self, item):"]
    views = [view["view"] for view in sqlite_utils("views")]
    assert views == ["definitions_with_files", "counts_by_language", "counts_by_kind"]
    assert sqlite_utils("rows", "counts_by_language", "--limit", "1") == [
        {"language": "go", "files": 1, "definitions": 2}
    ]
    query = "SELECT file, start_line FROM definitions_with_files WHERE name = 'sortStrings'"
    assert sqlite_utils("query", query) == [{"file": f"{indexed}/java/Sorter.java", "start_line": 6}]


def test_changed_files_are_counted_in_a_note_with_the_cure(indexed, command, sqlite_utils):
    (indexed / "go/reader.go").write_text("package reader\n")
    (indexed / "php/Crypto.php").unlink()
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (
        0,
        "note: the code of 2 files is not exported (1 changed since, 1 missing): "
        f"run `codesearch index {indexed}`, then export again\n",
    )
    query = "SELECT count(*) AS count FROM definitions WHERE code IS NULL"
    assert sqlite_utils("query", query) == [{"count": 3}]


def test_wrong_use_is_a_one_line_error_and_leaves_files_as_they_are(indexed, command):
    (command.folder / "notes.txt").write_text("mine\n")
    assert command.fails("export", "--sqlite", "notes.txt") == (
        "error: notes.txt is not an export of codesearch to SQLite: name another file\n"
    )
    assert (command.folder / "notes.txt").read_text() == "mine\n"
    assert (
        command.fails("export", "--sqlite", "code.db", "--with-code")
        == "error: --with-code is for portable files: a SQLite file always has the code\n"
    )


def test_full_storage_is_a_one_line_error_and_keeps_the_last_export(exported, command):
    before = exported.read_bytes()
    assert re.fullmatch(
        r"error: code\.db cannot be written: [^\n]+\n",
        command.fails("export", "--sqlite", "code.db", largest_file=20_000),
    )
    assert exported.read_bytes() == before
    assert [path.name for path in command.folder.glob("code.db*")] == ["code.db"]
