"""An index as SQLite tables with the code. An export that fails changes nothing."""

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from codesearch import Engine
from codesearch.errors import ExportError, IndexCorruptError, MissingExtraError
from codesearch.installation import how_to_add
from tests.conftest import HashEncoder, build, write_tree
from tests.tiny_bundle import change_one_byte

JAVA = "class Stack {\n    /** What it holds. */\n    private int[] items;\n    void push(int x) { }\n}\n"


@pytest.fixture
def engine(engine: Engine, home: Path, tiny_repo: Path, encoder: HashEncoder) -> Engine:
    """Return an engine with an index of the tiny repository."""
    build(tiny_repo, home, encoder)
    return engine


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "code.db"


def select(file: Path, query: str, *values: object) -> list[tuple]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query, values).fetchall()


def export_tree(home: Path, encoder: HashEncoder, root: Path, file: Path) -> None:
    """Index a tree and export it."""
    build(root, home, encoder)
    Engine(home).export(file, root, sqlite=True)


def found(file: Path, query: str, table: str = "definitions") -> list[str]:
    """Return the qualified names that the full-text search finds, best first."""
    joined = f"{table}_fts JOIN {table} ON {table}.id = {table}_fts.rowid"
    rows = select(
        file, f"SELECT qualified_name FROM {joined} WHERE {table}_fts MATCH ? ORDER BY rank, id", query
    )
    return [name for (name,) in rows]


def leftovers(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.glob(f"{file.name}*"))


def test_a_definition_has_the_fields_of_the_index_and_the_code_of_the_file(engine, file, tiny_repo):
    report = engine.export(file, sqlite=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        (pop,) = map(dict, connection.execute("SELECT * FROM definitions WHERE qualified_name = 'Stack.pop'"))
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
        "is_build_output": 0,
        "is_nested": 0,
        "is_stub": 0,
    }
    assert (report.root, report.documents, report.files) == (str(tiny_repo), 13, 6)
    assert (report.changed, report.missing, report.bytes) == (0, 0, file.stat().st_size)


def test_members_are_a_table_of_the_same_columns(home, encoder, file, tmp_path):
    export_tree(home, encoder, write_tree(tmp_path / "src", {"a.py": "", "b/Stack.java": JAVA}), file)
    columns = "file_id, path, qualified_name, signature, start_line, code"
    assert select(file, f"SELECT {columns} FROM members") == [
        (2, "b/Stack.java", "Stack.items", "private int[] items", 3, "    private int[] items;")
    ]
    assert found(file, "holds", "members") == ["Stack.items"]
    names = "SELECT name FROM pragma_table_info(?)"
    assert select(file, names, "members") == select(file, names, "definitions")


def test_files_are_rows_with_foreign_keys_to_them(engine, file, tiny_repo):
    engine.export(file, sqlite=True)
    assert select(file, "SELECT root, model FROM indexes") == [(str(tiny_repo), "hash")]
    query = "SELECT id, path, language, state, skipped, warnings, summary FROM files ORDER BY id LIMIT 2"
    assert select(file, query) == [
        (1, "go/reader.go", "go", "unchanged", "", "", ""),
        (2, "java/Sorter.java", "java", "unchanged", "", "", ""),
    ]
    size = (tiny_repo / "go/reader.go").stat().st_size
    assert select(file, "SELECT bytes, length(digest) FROM files WHERE id = 1") == [(size, 32)]
    for table in ("definitions", "members"):
        keys = select(file, f"PRAGMA foreign_key_list({table})")
        assert [key[2:5] for key in keys] == [("files", "file_id", "id")]
    assert select(file, "PRAGMA foreign_key_check") == []
    assert select(file, "PRAGMA integrity_check") == [("ok",)]
    assert select(file, "PRAGMA application_id") == [(int.from_bytes(b"cdsr"),)]
    assert select(file, "PRAGMA user_version") == [(1,)]


def test_the_flags_of_a_definition_are_columns(home, encoder, file, tmp_path):
    export_tree(home, encoder, write_tree(tmp_path / "src", {"tests/test_a.py": "def f():\n    ...\n"}), file)
    flags = "is_test, is_generated, is_vendored, is_build_output, is_nested, is_stub"
    assert select(file, f"SELECT {flags} FROM definitions") == [(1, 0, 0, 0, 0, 1)]


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
    engine.export(file, sqlite=True)
    assert found(file, query) == names


def test_a_match_in_the_name_ranks_above_one_in_the_code(home, encoder, file, tmp_path):
    tree = {
        "a.py": "def other():\n    return zebra(zebra, zebra)\n",
        "b.py": "def zebra():\n    return [1, 2, 3, 4, 5, 6, 7, 8, 9]\n",
    }
    export_tree(home, encoder, write_tree(tmp_path / "src", tree), file)
    assert found(file, "zebra") == ["zebra", "other"]


def test_the_views_locate_definitions_and_count_them(home, encoder, file, tiny_repo):
    (tiny_repo / "go/empty.go").write_text("package reader\n")
    export_tree(home, encoder, tiny_repo, file)
    query = "SELECT file, start_line, name, state FROM definitions_with_files WHERE language = 'php'"
    assert select(file, query) == [(f"{tiny_repo}/php/Crypto.php", 3, "encryptAes", "unchanged")]
    assert select(file, "SELECT * FROM counts_by_language ORDER BY definitions DESC LIMIT 2") == [
        ("python", 1, 5),
        ("go", 2, 2),  # Also files without definitions.
    ]
    assert select(file, "SELECT * FROM counts_by_kind WHERE language IN ('go', 'ruby')") == [
        ("go", "function", 1, 1),
        ("go", "method", 1, 1),
        ("ruby", "class", 1, 1),
        ("ruby", "method", 1, 1),
    ]


def test_the_code_of_changed_and_missing_files_is_not_exported(engine, file, tiny_repo):
    path = tiny_repo / "python/convert.py"
    path.write_text("# moved\n" + path.read_text())
    (tiny_repo / "go/reader.go").unlink()
    os.utime(tiny_repo / "php/Crypto.php")
    report = engine.export(file, sqlite=True)
    assert (report.documents, report.files, report.changed, report.missing) == (13, 6, 1, 1)
    assert select(file, "SELECT path, state FROM files WHERE state != 'unchanged'") == [
        ("go/reader.go", "missing"),
        ("python/convert.py", "changed"),
    ]
    query = "SELECT path, count(*) FROM definitions WHERE code IS NULL GROUP BY path"
    assert select(file, query) == [("go/reader.go", 2), ("python/convert.py", 5)]
    query = "SELECT docstring, start_line FROM definitions WHERE qualified_name = 'Stack.pop'"
    assert select(file, query) == [("Take the top item off.", 21)]
    assert found(file, "ReadLines") == ["ReadLines"]


@pytest.mark.parametrize("with_code", [True, False])
def test_an_imported_index_is_exported_with_the_code_that_it_has(
    home, file, tiny_repo, tiny_bundle, with_code, tmp_path
):
    engine = Engine(home, model=tiny_bundle)
    engine.index(tiny_repo)
    portable = engine.export(tmp_path / "x.codesearch", with_code=with_code).file
    engine.import_index(portable, name="other")
    shutil.rmtree(tiny_repo)
    report = engine.export(file, "other", sqlite=True)
    assert (report.documents, report.missing) == (13, 0 if with_code else 6)
    assert select(file, "SELECT root FROM indexes") == [("other",)]
    assert select(file, "SELECT count(code) FROM definitions") == [(13 if with_code else 0,)]


def test_an_export_is_the_same_after_any_history_of_updates(tiny_repo, home, encoder, never_merged, tmp_path):
    build(tiny_repo, home, encoder)
    tree = {"go/a.go": "package a\n\nfunc A() {\n}\n", "java/Stack.java": JAVA, "php/Crypto.php": "<?php\n"}
    write_tree(tiny_repo, tree)
    (tiny_repo / "ruby/queue.rb").unlink()
    build(tiny_repo, home, encoder)
    build(tiny_repo, tmp_path / "fresh", encoder)
    for name, folder in (("updated.db", home), ("fresh.db", tmp_path / "fresh")):
        Engine(folder).export(tmp_path / name, sqlite=True)
    assert len(list(home.glob("indexes/*/segments/*"))) == 2
    for table in ("files", "definitions", "members"):
        query = f"SELECT * FROM {table} ORDER BY id"
        assert select(tmp_path / "updated.db", query) == select(tmp_path / "fresh.db", query) != []


def test_an_index_without_documents_gives_empty_tables(home, encoder, file, tmp_path):
    export_tree(home, encoder, write_tree(tmp_path / "src", {"a.txt": "x"}), file)
    assert select(file, "SELECT count(*) FROM indexes") == [(1,)]
    assert select(file, "SELECT * FROM files") == found(file, "x") == []


def test_odd_bytes_and_characters_are_kept_or_replaced(home, encoder, file, tmp_path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    root.mkdir()
    (root / 'it\'s "a".py').write_bytes(b"def f():\n    return '\xff'\n")
    odd = 'class \U0001d49f:\n    x = "\u202e\U0001f600"\n\n    def caf\u00e9(self): "\'); DROP TABLE files; --"\n'
    (root / "b.py").write_text(odd, encoding="utf-8")
    export_tree(home, encoder, root, file)
    first, *_, last = select(file, "SELECT file, code FROM definitions_with_files ORDER BY id")
    assert last == (f'{tmp_path}/caf\ufffd/it\'s "a".py', "def f():\n    return 'ÿ'")
    assert select(file, "SELECT docstring, code FROM definitions WHERE name = 'café'") == [
        ("'); DROP TABLE files; --", odd.splitlines()[-1])
    ]
    assert select(file, "SELECT name, code FROM members") == [("x", odd.splitlines()[1])]
    assert found(file, "café") == ["\U0001d49f.café"]


def test_progress_counts_the_documents(engine, file):
    calls = []
    engine.export(file, sqlite=True, on_progress=lambda *call: calls.append(call))
    assert calls[0] == ("documents", 2, 13)
    assert calls[-2:] == [("documents", 13, 13), ("full-text search", 0, 0)]


def test_an_export_replaces_an_older_one(engine, file, tiny_repo):
    engine.export(file, sqlite=True)
    select(file, "CREATE TABLE notes (text TEXT)")
    (tiny_repo / "go/reader.go").unlink()
    engine.export(file, sqlite=True)
    assert select(file, "SELECT count(*) FROM files WHERE state = 'missing'") == [(1,)]
    assert select(file, "SELECT count(*) FROM sqlite_master WHERE name = 'notes'") == [(0,)]
    assert leftovers(file) == ["code.db"]


def test_a_file_that_is_not_an_export_is_never_replaced(engine, file):
    for content in (b"", b"notes", None):
        file.unlink(missing_ok=True)
        if content is None:
            select(file, "CREATE TABLE mine (x)")
        else:
            file.write_bytes(content)
        before = file.read_bytes()
        problem = f"^{file} is not an export of codesearch to SQLite: name another file$"
        with pytest.raises(ExportError, match=problem):
            engine.export(file, sqlite=True)
        assert file.read_bytes() == before
    engine.export(file.with_name("x.codesearch"))
    with pytest.raises(ExportError, match="is not an export of codesearch to SQLite"):
        engine.export(file.with_name("x.codesearch"), sqlite=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_folder_or_a_device_is_never_replaced(engine, file, tmp_path):
    os.mkfifo(file)
    for path in (file, tmp_path / "tiny", Path(os.devnull)):
        with pytest.raises(ExportError, match=f"^{path} is not a regular file: name another file$"):
            engine.export(path, sqlite=True)
    assert file.is_fifo() and Path(os.devnull).is_char_device()


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_a_database_that_is_in_use_is_not_replaced(engine, file, suffix):
    engine.export(file, sqlite=True)
    before = file.read_bytes()
    Path(f"{file}{suffix}").write_bytes(b"x")
    with pytest.raises(ExportError, match=f"^{file} is in use: {file}{suffix} exists: close the programs "):
        engine.export(file, sqlite=True)
    assert file.read_bytes() == before


def test_a_link_is_kept_and_leads_to_the_export(engine, file, tmp_path):
    target = tmp_path / "data" / "real.db"
    target.parent.mkdir()
    file.symlink_to(target)
    engine.export(file, sqlite=True)
    engine.export(file, sqlite=True)
    assert file.is_symlink() and select(target, "SELECT count(*) FROM definitions") == [(13,)]


def test_a_damaged_index_is_an_error_and_the_last_export_is_kept(engine, file, home, tiny_repo):
    engine.export(file, sqlite=True)
    before = file.read_bytes()
    (database,) = home.glob("indexes/*/segments/*/documents.sqlite")
    change_one_byte(database, position=database.read_bytes().index(b"decimal string"))
    cure = f"run `codesearch index --rebuild {tiny_repo}`"
    with pytest.raises(IndexCorruptError, match=f"^{database}: its bytes were changed: {cure}$"):
        engine.export(file, sqlite=True)
    assert (file.read_bytes(), leftovers(file)) == (before, ["code.db"])


def test_an_interrupted_export_keeps_the_last_one(engine, file):
    engine.export(file, sqlite=True)
    before = file.read_bytes()

    def interrupt(stage: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.export(file, sqlite=True, on_progress=interrupt)
    assert (file.read_bytes(), leftovers(file)) == (before, ["code.db"])


def test_without_sqlite_utils_the_error_has_the_command_that_adds_it(engine, file, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlite_utils", None)
    with pytest.raises(MissingExtraError) as error:
        engine.export(file, sqlite=True)
    assert str(error.value) == f"sqlite-utils is not installed: {how_to_add('sqlite-utils')}"
