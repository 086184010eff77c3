"""Export indexes to SQLite tables with the current code. An interrupted export changes nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from codesearch import Engine
from codesearch.errors import ExportError, IndexCorruptError, IndexNotFoundError, MissingExtraError
from codesearch.installation import how_to_add
from codesearch.portable.sqlite import APPLICATION_ID, LAYOUT_VERSION, write_sqlite
from tests.conftest import HashEncoder, build, only, write_tree
from tests.tiny_bundle import change_one_byte


@pytest.fixture
def engine(engine: Engine, home: Path, tiny_repo: Path, encoder: HashEncoder) -> Engine:
    """Return an engine with an index of the tiny repository."""
    build(tiny_repo, home, encoder)
    return engine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "code.db"


def select(file: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def found(file: Path, query: str) -> list[str]:
    """Return the qualified names that the full-text search finds, best first."""
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute(
            "SELECT qualified_name FROM documents_fts JOIN documents ON documents.id = documents_fts.rowid "
            "WHERE documents_fts MATCH ? ORDER BY rank, id",
            [query],
        )
        return [name for (name,) in rows]


def tables(file: Path) -> dict[str, list[tuple]]:
    """Return the content of an export without the time of the index."""
    return {
        "roots": select(file, "SELECT id, path, model FROM roots"),
        "files": select(file, "SELECT * FROM files ORDER BY id"),
        "documents": select(file, "SELECT * FROM documents ORDER BY id"),
    }


def leftovers(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.glob(f"{file.name}*"))


def test_a_document_has_the_fields_of_the_index_and_the_code_of_the_file(engine, file, tiny_repo):
    report = engine.export_sqlite(file)
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        (pop,) = map(dict, connection.execute("SELECT * FROM documents WHERE qualified_name = 'Stack.pop'"))
    source = (tiny_repo / "python/convert.py").read_bytes()
    assert source[pop.pop("start_byte") : pop.pop("end_byte")].endswith(b"return self.items.pop()")
    assert pop == {
        "id": 11,
        "file_id": 5,
        "path": "python/convert.py",
        "language": "python",
        "kind": "method",
        "name": "pop",
        "qualified_name": "Stack.pop",
        "name_words": "stack pop",
        "signature": "def pop(self)",
        "docstring": "Take the top item off.",
        "code": '    def pop(self):\n        """Take the top item off."""\n        return self.items.pop()',
        "start_line": 21,
        "end_line": 23,
        "last_line": 23,
        "is_test": 0,
        "is_generated": 0,
        "is_vendored": 0,
        "is_stub": 0,
    }
    assert (report.documents, report.files, report.changed, report.missing) == (13, 6, 0, 0)
    assert (report.file, report.roots, report.bytes) == (file, (str(tiny_repo),), file.stat().st_size)


def test_files_and_folders_are_rows_with_foreign_keys_to_them(engine, file, tiny_repo):
    engine.export_sqlite(file)
    assert select(file, "SELECT id, path, model FROM roots") == [(1, str(tiny_repo), "hash")]
    query = "SELECT id, root_id, path, language, state, skipped, warnings FROM files ORDER BY id LIMIT 2"
    assert select(file, query) == [
        (1, 1, "go/reader.go", "go", "unchanged", "", ""),
        (2, 1, "java/Sorter.java", "java", "unchanged", "", ""),
    ]
    size = (tiny_repo / "go/reader.go").stat().st_size
    assert select(file, "SELECT bytes, length(digest) FROM files WHERE id = 1") == [(size, 32)]
    assert [row[2:5] for row in select(file, "PRAGMA foreign_key_list(documents)")] == [
        ("files", "file_id", "id")
    ]
    assert [row[2:5] for row in select(file, "PRAGMA foreign_key_list(files)")] == [
        ("roots", "root_id", "id")
    ]
    assert select(file, "PRAGMA foreign_key_check") == []
    assert select(file, "PRAGMA integrity_check") == [("ok",)]
    assert select(file, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert select(file, "PRAGMA user_version") == [(LAYOUT_VERSION,)]


def test_the_flags_of_a_document_are_columns(home, encoder, file, tmp_path):
    root = write_tree(tmp_path / "src", {"tests/test_a.py": "def test_f():\n    ...\n"})
    build(root, home, encoder)
    Engine(home).export_sqlite(file)
    query = "SELECT is_test, is_generated, is_vendored, is_stub FROM documents"
    assert select(file, query) == [(1, 0, 0, 1)]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("name: getJson", ["getJson"]),
        ("get json", ["getJson"]),  # The words of a name in camel case.
        ("encrypted", ["encryptAes"]),  # The stem of "Encrypt".
        ("openssl_encrypt", ["encryptAes"]),  # Only in the code.
        ("sorter NOT name: sortstrings", ["Sorter"]),
        ("path: queue", ["PriorityQueue", "PriorityQueue.push"]),
        ("qzxv", []),
    ],
)
def test_full_text_search_finds_words_of_names_documentation_code_and_paths(engine, file, query, names):
    engine.export_sqlite(file)
    assert found(file, query) == names


def test_a_match_in_the_name_ranks_above_one_in_the_code(home, encoder, file, tmp_path):
    root = write_tree(
        tmp_path / "src",
        {
            "a.py": "def other():\n    return zebra(zebra, zebra)\n",
            "b.py": "def zebra():\n    return [1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
        },
    )
    build(root, home, encoder)
    Engine(home).export_sqlite(file)
    assert found(file, "zebra") == ["zebra", "other"]


def test_the_views_locate_documents_and_count_them(engine, file, tiny_repo):
    engine.export_sqlite(file)
    query = "SELECT root, file, start_line, name, state FROM documents_with_files WHERE language = 'php'"
    root = str(tiny_repo)
    assert select(file, query) == [(root, f"{root}/php/Crypto.php", 3, "encryptAes", "unchanged")]
    assert select(file, "SELECT * FROM counts_by_language ORDER BY documents DESC LIMIT 2") == [
        (root, "python", 1, 5),
        (root, "go", 1, 2),
    ]
    assert select(file, "SELECT * FROM counts_by_kind WHERE language IN ('go', 'ruby')") == [
        (root, "go", "function", 1, 1),
        (root, "go", "method", 1, 1),
        (root, "ruby", "class", 1, 1),
        (root, "ruby", "method", 1, 1),
    ]


def test_files_without_documents_are_counted_too(home, encoder, file, tmp_path):
    root = write_tree(tmp_path / "src", {"empty.py": "", "a.py": "def f():\n    pass\n"})
    build(root, home, encoder)
    Engine(home).export_sqlite(file)
    assert select(file, "SELECT files, documents FROM counts_by_language") == [(2, 1)]


def test_the_code_of_changed_and_missing_files_is_not_exported(engine, file, tiny_repo):
    path = tiny_repo / "python/convert.py"
    path.write_text("# moved\n" + path.read_text())
    (tiny_repo / "go/reader.go").unlink()
    os.utime(tiny_repo / "php/Crypto.php")
    report = engine.export_sqlite(file)
    assert (report.documents, report.files, report.changed, report.missing) == (13, 6, 1, 1)
    assert select(file, "SELECT path, state FROM files WHERE state != 'unchanged'") == [
        ("go/reader.go", "missing"),
        ("python/convert.py", "changed"),
    ]
    query = "SELECT path, count(*) FROM documents WHERE code IS NULL GROUP BY path"
    assert select(file, query) == [("go/reader.go", 2), ("python/convert.py", 5)]
    query = "SELECT docstring, start_line FROM documents WHERE qualified_name = 'Stack.pop'"
    assert select(file, query) == [("Take the top item off.", 21)]
    assert found(file, "ReadLines") == ["ReadLines"]


def test_an_export_is_the_same_after_any_history_of_updates(tiny_repo, home, encoder, never_merged, tmp_path):
    build(tiny_repo, home, encoder)
    write_tree(
        tiny_repo, {"go/a.go": "package a\n\nfunc A() {\n}\n", "php/Crypto.php": "<?php\nfunction f() {}\n"}
    )
    (tiny_repo / "ruby/queue.rb").unlink()
    build(tiny_repo, home, encoder)
    build(tiny_repo, tmp_path / "fresh", encoder)
    for name, folder in (("updated.db", home), ("fresh.db", tmp_path / "fresh")):
        Engine(folder).export_sqlite(tmp_path / name)
    assert len(list(home.glob("indexes/*/segments/*"))) == 2
    assert tables(tmp_path / "updated.db") == tables(tmp_path / "fresh.db")


def test_a_file_of_nested_roots_belongs_to_the_inner_one(nested_roots, home, file):
    engine = Engine(home)
    engine.export_sqlite(file)
    roots = {name: str(root) for name, root in nested_roots.items()}
    places = "SELECT root, path FROM documents_with_files ORDER BY id"
    assert select(file, places) == [(roots["one"], "a.py"), (roots["inner"], "a.py"), (roots["two"], "a.py")]
    engine.export_sqlite(file, roots["one"])
    assert select(file, places) == [(roots["one"], "a.py"), (roots["one"], "inner/a.py")]
    report = engine.export_sqlite(file, nested_roots["two"], nested_roots["inner"], nested_roots["two"])
    assert report.roots == (roots["inner"], roots["two"])


def test_an_index_without_documents_gives_empty_tables(home, encoder, file, tmp_path):
    build(write_tree(tmp_path / "src", {"a.txt": "x"}), home, encoder)
    assert Engine(home).export_sqlite(file).documents == 0
    assert select(file, "SELECT count(*) FROM roots") == [(1,)]
    assert found(file, "x") == []


def test_bytes_of_names_that_are_not_utf8_are_replaced(home, encoder, file, tmp_path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    (root / "a.py").write_bytes(b"def f():\n    return '\xff'\n")
    build(root, home, encoder)
    Engine(home).export_sqlite(file)
    query = "SELECT file, code FROM documents_with_files"
    assert select(file, query) == [(f"{tmp_path}/caf\ufffd/a.py", "def f():\n    return 'ÿ'")]


def test_progress_counts_the_documents(engine, file):
    calls = []
    engine.export_sqlite(file, on_progress=lambda *call: calls.append(call))
    assert calls[0] == ("documents", 2, 13)
    assert calls[-2:] == [("documents", 13, 13), ("full-text search", 0, 0)]


def test_an_export_replaces_an_older_one(engine, file, tiny_repo):
    engine.export_sqlite(file)
    select(file, "CREATE TABLE notes (text TEXT)")
    (tiny_repo / "go/reader.go").unlink()
    engine.export_sqlite(file)
    assert select(file, "SELECT count(*) FROM files WHERE state = 'missing'") == [(1,)]
    assert select(file, "SELECT count(*) FROM sqlite_master WHERE name = 'notes'") == [(0,)]
    assert leftovers(file) == ["code.db"]


def test_a_file_that_is_not_an_export_is_replaced_only_by_force(engine, file):
    for content in (b"", b"notes", None):
        file.unlink(missing_ok=True)
        if content is None:
            select(file, "CREATE TABLE mine (x)")
        else:
            file.write_bytes(content)
        before = file.read_bytes()
        with pytest.raises(ExportError) as error:
            engine.export_sqlite(file)
        assert str(error.value) == (
            f"{file} is not an export of codesearch: name another file, or replace it with --force"
        )
        assert file.read_bytes() == before
    engine.export_sqlite(file, force=True)
    assert select(file, "SELECT count(*) FROM documents") == [(13,)]


def test_a_folder_or_a_device_is_never_replaced(engine, file, tmp_path):
    os.mkfifo(file)
    for path in (file, tmp_path / "tiny", Path(os.devnull)):
        with pytest.raises(ExportError, match=f"^{path} is not a regular file: name another file$"):
            engine.export_sqlite(path, force=True)
    assert file.is_fifo() and Path(os.devnull).is_char_device()


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_database_that_is_in_use_is_not_replaced(engine, file, suffix):
    engine.export_sqlite(file)
    before = file.read_bytes()
    Path(f"{file}{suffix}").write_bytes(b"x")
    with pytest.raises(ExportError, match=f"^{file} is in use: {file}{suffix} exists: close the programs "):
        engine.export_sqlite(file, force=True)
    assert file.read_bytes() == before


def test_a_link_is_kept_and_leads_to_the_export(engine, file, tmp_path):
    target = tmp_path / "data" / "real.db"
    target.parent.mkdir()
    file.symlink_to(target)
    engine.export_sqlite(file)
    engine.export_sqlite(file)
    assert file.is_symlink() and select(target, "SELECT count(*) FROM documents") == [(13,)]


def test_a_folder_that_does_not_exist_is_one_error(engine, tmp_path):
    path = tmp_path / "absent" / "code.db"
    with pytest.raises(ExportError, match=f"^{path} cannot be written: No such file or directory$"):
        engine.export_sqlite(path)


def test_a_damaged_index_is_an_error_and_the_last_export_is_kept(engine, file, home, tiny_repo):
    engine.export_sqlite(file)
    before = file.read_bytes()
    (database,) = home.glob("indexes/*/segments/*/documents.sqlite")
    change_one_byte(database, position=database.read_bytes().index(b"decimal string"))
    with pytest.raises(IndexCorruptError) as error:
        engine.export_sqlite(file)
    assert str(error.value) == (
        f"{database}: its bytes were changed: run `codesearch index --rebuild {tiny_repo}`"
    )
    assert (file.read_bytes(), leftovers(file)) == (before, ["code.db"])


def test_an_interrupted_export_keeps_the_last_one(engine, file):
    engine.export_sqlite(file)
    before = file.read_bytes()

    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.export_sqlite(file, on_progress=interrupt)
    assert (file.read_bytes(), leftovers(file)) == (before, ["code.db"])


def test_a_segment_that_is_merged_during_the_export_is_still_exported(
    engine, file, home, tiny_repo, encoder, always_merged
):
    def update(stage: str, done: int, total: int) -> None:
        if stage == "documents" and done == 2:
            write_tree(tiny_repo, {"new.py": "def brand_new():\n    pass\n"})
            build(tiny_repo, home, encoder)

    (old,) = home.glob("indexes/*/segments/*")
    assert engine.export_sqlite(file, on_progress=update).documents == 13
    assert not old.exists()
    assert select(file, "SELECT count(*) FROM documents") == [(13,)]


def test_an_open_segment_that_was_deleted_is_still_exported(built_index, file):
    shutil.rmtree(only(built_index).folder)
    assert write_sqlite([built_index], file, lambda *_: None)[0] == 13


def test_a_folder_without_an_index_is_an_error_and_leaves_no_file(engine, home, file, tmp_path):
    with pytest.raises(IndexNotFoundError, match="absent is no folder and no imported index"):
        engine.export_sqlite(file, tmp_path / "absent")
    with pytest.raises(IndexNotFoundError, match=f"^nothing is indexed in {tmp_path / 'empty'}: run"):
        Engine(tmp_path / "empty").export_sqlite(file)
    assert leftovers(file) == []


def test_without_sqlite_utils_the_error_names_the_extra(engine, file, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite_utils", None)
    with pytest.raises(MissingExtraError) as error:
        engine.export_sqlite(file)
    assert str(error.value) == f"sqlite-utils is not installed: {how_to_add('sqlite-utils')}"
