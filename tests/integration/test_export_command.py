"""`codesearch export --sqlite`: one file that `sqlite-utils` reads, or a one-line error."""

from __future__ import annotations

import json
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codesearch.store.manifest import FORMAT_VERSION
from tests.command import Command
from tests.conftest import break_format
from tests.tiny_bundle import change_one_byte


@pytest.fixture
def sqlite_utils(command: Command):
    """Run `sqlite-utils` in the folder of the command; return its rows."""

    def run(*arguments: str) -> list[dict]:
        done = subprocess.run(
            [sys.executable, "-m", "sqlite_utils", *arguments],
            cwd=command.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return json.loads(done.stdout)

    return run


@pytest.fixture
def exported(indexed: Path, command: Command) -> Path:
    """The export of the tiny repository, in `code.db` of the folder of the command."""
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (0, "")
    return command.folder / "code.db"


def test_an_export_prints_one_line_about_its_content(indexed, command):
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (0, "")
    line = r"code\.db: 13 documents from 6 files of 1 indexed folder in \d+\.\d s, \d+ kB\n"
    assert re.fullmatch(line, done.stdout)


def test_sqlite_utils_lists_tables_with_their_keys_and_searches(exported, sqlite_utils):
    found = sqlite_utils("tables", "code.db", "--counts")
    counts = {
        table["table"]: table["count"] for table in found if not table["table"].startswith("documents_")
    }
    assert counts == {"roots": 1, "files": 6, "documents": 13}
    keys = sqlite_utils("query", "code.db", "PRAGMA foreign_key_list(documents)")
    assert [(key["table"], key["from"], key["to"]) for key in keys] == [("files", "file_id", "id")]
    assert sqlite_utils("query", "code.db", "PRAGMA foreign_key_check") == []
    columns = ("-c", "path", "-c", "start_line", "-c", "name")
    assert sqlite_utils("search", "code.db", "documents", "parse json", *columns) == [
        {"path": "javascript/http.js", "start_line": 4, "name": "getJson"}
    ]
    push = [row["code"].splitlines()[0] for row in sqlite_utils("search", "code.db", "documents", "push")]
    assert push == ["  def push(element, priority)", "    def push(self, item):"]


def test_sqlite_utils_shows_the_views(exported, sqlite_utils, indexed):
    views = [view["view"] for view in sqlite_utils("views", "code.db")]
    assert views == ["documents_with_files", "counts_by_language", "counts_by_kind"]
    assert sqlite_utils("rows", "code.db", "counts_by_language", "--limit", "1") == [
        {"root": str(indexed), "language": "go", "files": 1, "documents": 2}
    ]
    query = "SELECT file, start_line FROM documents_with_files WHERE name = 'sortStrings'"
    assert sqlite_utils("query", "code.db", query) == [
        {"file": f"{indexed}/java/Sorter.java", "start_line": 6}
    ]


def test_changed_files_are_counted_in_a_note_with_the_cure(indexed, command, sqlite_utils):
    (indexed / "go/reader.go").write_text("package reader\n")
    (indexed / "php/Crypto.php").unlink()
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (
        0,
        "note: the code of 2 files is not exported (1 changed since, 1 missing): "
        f"run `codesearch index {indexed}`, then export again\n",
    )
    query = "SELECT count(*) AS count FROM documents WHERE code IS NULL"
    assert sqlite_utils("query", "code.db", query) == [{"count": 3}]
    assert command("index", "tiny").returncode == 0
    assert command("export", "--sqlite", "code.db").stderr == ""
    assert sqlite_utils("query", "code.db", query) == [{"count": 0}]


def test_a_root_is_selected_as_in_a_query(exported, command):
    done = command("export", "--sqlite", "code.db", "--root", "tiny")
    assert done.stdout.startswith("code.db: 13 documents from 6 files of 1 indexed folder in ")
    before = exported.read_bytes()
    done = command("export", "--sqlite", "code.db", "--root", "tiny", "--root", "absent")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: absent is no folder and no imported index: ")
    assert exported.read_bytes() == before


def test_a_file_of_another_kind_is_replaced_only_by_force(indexed, command):
    (command.folder / "notes.txt").write_text("mine\n")
    done = command("export", "--sqlite", "notes.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: notes.txt is not an export of codesearch: name another file, or replace it with --force\n"
    )
    assert (command.folder / "notes.txt").read_text() == "mine\n"
    done = command("export", "--sqlite", "notes.txt", "--force")
    assert (done.returncode, done.stderr) == (0, "")
    assert (command.folder / "notes.txt").read_bytes().startswith(b"SQLite format 3\0")


def test_a_missing_file_name_and_a_missing_index_are_one_line_errors(command, home):
    done = command("export")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: name one file to write: FILE for a portable file, or --sqlite FILE\n"
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: nothing is indexed in {home}: run `codesearch index FOLDER` first\n"
    assert not (command.folder / "code.db").exists()


def test_an_index_that_cannot_be_read_is_a_one_line_error(exported, command, home, indexed):
    before = exported.read_bytes()
    (database,) = home.glob("indexes/*/segments/*/documents.sqlite")
    change_one_byte(database)
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {database}: its bytes were changed: run `codesearch index --rebuild {indexed}`\n"
    )
    database.unlink()
    assert command("export", "--sqlite", "code.db").stderr == (
        f"error: {database}: missing: run `codesearch index --rebuild {indexed}`\n"
    )
    break_format(database.parents[2], FORMAT_VERSION - 1)
    assert command("export", "--sqlite", "code.db").stderr == (
        f"error: index format {FORMAT_VERSION - 1}, expected {FORMAT_VERSION}: "
        f"run `codesearch index {indexed}` again\n"
    )
    assert exported.read_bytes() == before


def test_full_storage_is_a_one_line_error_and_keeps_the_last_export(exported, command):
    before = exported.read_bytes()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = command("export", "--sqlite", "code.db", preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: code\.db cannot be written: [^\n]+\n", done.stderr)
    assert exported.read_bytes() == before
    assert [path.name for path in command.folder.glob("code.db*")] == ["code.db"]


def test_documents_of_a_deleted_folder_are_exported_without_code(indexed, command, sqlite_utils):
    shutil.rmtree(indexed)
    done = command("export", "--sqlite", "code.db")
    assert (done.returncode, done.stderr) == (
        0,
        "note: the code of 6 files is not exported (6 missing): "
        f"run `codesearch index {indexed}`, then export again\n",
    )
    query = "SELECT count(*) AS documents, count(code) AS with_code FROM documents"
    assert sqlite_utils("query", "code.db", query) == [{"documents": 13, "with_code": 0}]
