"""Indexes -> one SQLite file for `sqlite-utils`, Datasette and every other program that reads SQL.

    roots       indexed folders
    files       source files; root_id -> roots
    documents   documents; file_id -> files
    documents_fts                                               full-text search of the documents, FTS5
    documents_with_files, counts_by_language, counts_by_kind    views

`PRAGMA application_id` marks the file as an export of codesearch. `PRAGMA user_version` is the version of the layout.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from codesearch.errors import ExportError, MissingExtraError
from codesearch.export.rows import (
    CHANGED,
    MISSING,
    check_stores,
    document_rows,
    exported_files,
    file_rows,
    root_rows,
)
from codesearch.files import atomic_writer
from codesearch.index.reader import IndexReader

if TYPE_CHECKING:
    from sqlite_utils import Database

LAYOUT_VERSION = 1
APPLICATION_ID = int.from_bytes(b"cdsr")
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 72
"""A SQLite file begins with the magic; the last four of these bytes are the application id, big-endian."""

_ROOTS = {"id": int, "path": str, "indexed_at": str, "model": str}
_FILES = {
    "id": int,
    "root_id": int,
    "path": str,
    "language": str,
    "bytes": int,
    "digest": str,
    "state": str,
    "skipped": str,
    "warnings": str,
}
_DOCUMENTS = {
    "id": int,
    "file_id": int,
    "path": str,
    "language": str,
    "kind": str,
    "name": str,
    "qualified_name": str,
    "name_words": str,
    "signature": str,
    "docstring": str,
    "code": str,
    "start_line": int,
    "end_line": int,
    "start_byte": int,
    "end_byte": int,
    "is_test": bool,
    "is_generated": bool,
    "is_vendored": bool,
    "is_stub": bool,
}
_SEARCHED = {"name": 10, "name_words": 5, "signature": 2, "docstring": 2, "code": 1, "path": 1}
"""Columns of the full-text search, and the weight of each in the rank."""
_VIEWS = {
    "documents_with_files": """
SELECT documents.id, roots.path AS root, documents.path, rtrim(roots.path, '/') || '/' || documents.path AS file,
    files.state, documents.language, kind, name, qualified_name, signature, docstring, code, start_line, end_line,
    is_test, is_generated, is_vendored, is_stub
FROM documents JOIN files ON files.id = documents.file_id JOIN roots ON roots.id = files.root_id
""",
    "counts_by_language": """
SELECT roots.path AS root, files.language, count(DISTINCT files.id) AS files, count(documents.id) AS documents
FROM files JOIN roots ON roots.id = files.root_id LEFT JOIN documents ON documents.file_id = files.id
GROUP BY roots.id, files.language
""",
    "counts_by_kind": """
SELECT roots.path AS root, documents.language, kind, count(*) AS documents, sum(docstring != '') AS documented
FROM documents JOIN files ON files.id = documents.file_id JOIN roots ON roots.id = files.root_id
GROUP BY roots.id, documents.language, kind
""",
}

OnProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of an export: documents, files, changed files and missing files."""

    documents: int
    files: int
    changed: int
    missing: int


def check_sqlite_utils() -> None:
    """Check that `sqlite-utils` is installed.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import sqlite_utils  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtraError("sqlite-utils") from None


def check_target(path: Path, *, force: bool) -> None:
    """Check that a file may be written. An existing file is replaced if it is an export or if `force` is set.

    Raises:
        ExportError: it may not be written.
    """
    real = os.path.realpath(path)
    for journal in (f"{real}-wal", f"{real}-journal"):
        if os.path.exists(journal):  # SQLite would apply it to the new file.
            raise ExportError(
                f"{path} is in use: {journal} exists: close the programs that use it, or name another file"
            )
    if not path.exists():
        return
    if not path.is_file():
        raise ExportError(f"{path} is not a regular file: name another file")
    if not force and not _is_export(path):
        raise ExportError(
            f"{path} is not an export of codesearch: name another file, or replace it with --force"
        )


def write_sqlite(indexes: Sequence[IndexReader], path: Path, on_progress: OnProgress) -> Counts:
    """Write indexes to a new file, which replaces `path` at the end.

    Args:
        indexes: in the order of their ids.
        path: the file.
        on_progress: called with a stage, and how many documents of how many are done.

    Raises:
        ExportError: the file cannot be written. An earlier file stays.
        IndexCorruptError: an index is damaged. An earlier file stays.
    """
    check_stores(indexes)
    try:
        with atomic_writer(Path(os.path.realpath(path)), sync=True) as part:
            with closing(sqlite3.connect(part.name)) as connection:
                return _write(connection, indexes, on_progress)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ExportError(f"{path} cannot be written: {reason}") from error


def _write(connection: sqlite3.Connection, indexes: Sequence[IndexReader], on_progress: OnProgress) -> Counts:
    from sqlite_utils import Database

    # The file is deleted if its writer fails, so no journal is needed.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {LAYOUT_VERSION}")
    database = Database(connection, execute_plugins=False)
    _make_tables(database)
    files = exported_files(indexes)
    states: list[str] = []
    total = sum(file.live.record.doc_count for file in files)
    database.table("roots").insert_all(root_rows(indexes))
    rows = document_rows(files, states, lambda done: on_progress("documents", done, total))
    database.table("documents").insert_all(rows)
    database.table("files").insert_all(file_rows(files, states))
    on_progress("full-text search", 0, 0)
    _make_search(database)
    return Counts(total, len(files), states.count(CHANGED), states.count(MISSING))


def _make_tables(database: Database) -> None:
    """Make the tables and views. Every column but the code has a value in each row."""
    for name, columns, keys in (
        ("roots", _ROOTS, []),
        ("files", _FILES, [("root_id", "roots", "id")]),
        ("documents", _DOCUMENTS, [("file_id", "files", "id")]),
    ):
        database.create_table(name, columns, pk="id", not_null=columns.keys() - {"code"}, foreign_keys=keys)
    for name, query in _VIEWS.items():
        database.create_view(name, query)


def _make_search(database: Database) -> None:
    """Make the indexes of columns and the full-text search."""
    database.table("files").create_index(["root_id", "path"], unique=True)
    database.table("documents").create_index(["file_id"])
    database.table("documents").create_index(["name"])
    database.table("documents").enable_fts(_SEARCHED, tokenize="porter")
    rank = f"bm25({', '.join(map(str, _SEARCHED.values()))})"
    database.execute("INSERT INTO documents_fts (documents_fts, rank) VALUES ('rank', ?)", [rank])


def _is_export(path: Path) -> bool:
    with open(path, "rb") as file:
        header = file.read(_HEADER_BYTES)
    return header.startswith(_MAGIC) and header[-4:] == APPLICATION_ID.to_bytes(4)
