"""An index -> a SQLite file for `sqlite-utils`, Datasette and every other program that reads SQL.

    indexes      one row: the indexed folder, when it was indexed and the model
    files        source files
    definitions  documents; file_id -> files
    members      what is only found by its name; file_id -> files
    definitions_fts, members_fts                                  full-text search, FTS5
    definitions_with_files, counts_by_language, counts_by_kind    views

Ids count from 1, by path and then by place in the file, so they do not depend on the segments of the index. The code of
one source file is in memory at a time.

`PRAGMA application_id` marks the file as an export of codesearch. `PRAGMA user_version` is the version of the layout.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, get_type_hints

from codesearch.build.plan import live_files
from codesearch.errors import ExportError, MissingExtraError
from codesearch.parsing.identifiers import subtokens
from codesearch.portable.pack import ExportSummary, Format, OnStage, export_index
from codesearch.store.catalogue import IndexEntry
from codesearch.store.database import DocumentRow, FileRecord
from codesearch.store.segments import IndexReader, SegmentReader
from codesearch.store.source import cut_lines, read_source
from codesearch.types import BUILT, GENERATED, NESTED, STUB, TEST, VENDORED

if TYPE_CHECKING:
    from sqlite_utils import Database

LAYOUT_VERSION = 1
_MAGIC, _APPLICATION = b"SQLite format 3\0", b"cdsr"
_FLAGS = {
    "is_test": TEST,
    "is_generated": GENERATED,
    "is_vendored": VENDORED,
    "is_build_output": BUILT,
    "is_nested": NESTED,
    "is_stub": STUB,
}
_HIDDEN = ("flags", "copy_key", "shape_key")
_STORED = {name: kind for name, kind in get_type_hints(DocumentRow).items() if name not in _HIDDEN}
_DEFINITIONS: dict[str, type] = {
    **{"id": int, "file_id": int, "path": str, "language": str},
    **_STORED,
    **{"name_words": str, "code": str},
    **dict.fromkeys(_FLAGS, bool),
}
_TABLES: dict[str, dict[str, type]] = {
    "indexes": {"root": str, "indexed_at": str, "model": str},
    "files": {
        **{"id": int, "path": str, "language": str, "bytes": int, "digest": str, "state": str},
        **{"skipped": str, "warnings": str, "summary": str},
    },
    "definitions": _DEFINITIONS,
    "members": _DEFINITIONS,
}
_SEARCHED = {"name": 10, "name_words": 5, "signature": 2, "docstring": 2, "code": 1, "path": 1}
"""Columns of the full-text search, and the weight of each in the rank."""
_VIEWS = {
    "definitions_with_files": """
SELECT definitions.*, files.state, rtrim(indexes.root, '/') || '/' || definitions.path AS file
FROM definitions JOIN files ON files.id = definitions.file_id, indexes
""",
    "counts_by_language": """
SELECT files.language, count(DISTINCT files.id) AS files, count(definitions.id) AS definitions
FROM files LEFT JOIN definitions ON definitions.file_id = files.id GROUP BY files.language
""",
    "counts_by_kind": """
SELECT language, kind, count(*) AS definitions, sum(docstring != '') AS documented
FROM definitions GROUP BY language, kind
""",
}
_Row = tuple[object, ...]


def export_sqlite(entry: IndexEntry, file: Path, home: Path, *, on_progress: OnStage) -> ExportSummary:
    """Write an index, which no other process can change meanwhile."""
    try:
        import sqlite_utils  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtraError("sqlite-utils") from None
    for journal in (f"{file.resolve()}-wal", f"{file.resolve()}-journal"):
        if os.path.exists(journal):  # SQLite would apply it to the new file.
            cure = "close the programs that use it, or name another file"
            raise ExportError(f"{file} is in use: {journal} exists", cure)

    def write(index: IndexReader, part: BinaryIO, without_code: Counter[str]) -> None:
        try:
            with closing(sqlite3.connect(part.name)) as connection:
                _write(connection, index, without_code, on_progress)
        except sqlite3.Error as error:
            raise ExportError(f"{file} cannot be written: {error}") from error

    marks = {0: _MAGIC, 68: _APPLICATION}
    return export_index(entry, file, home, Format("an export of codesearch to SQLite", marks, write))


def _write(
    connection: sqlite3.Connection, index: IndexReader, without_code: Counter[str], on_progress: OnStage
) -> None:
    from sqlite_utils import Database

    # The file is deleted if its writer fails, so no journal is needed.
    connection.executescript(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
        f"PRAGMA application_id = {int.from_bytes(_APPLICATION)}; PRAGMA user_version = {LAYOUT_VERSION};"
    )
    database = Database(connection, execute_plugins=False)
    _make_tables(database)
    root, model = os.fsencode(index.manifest.root).decode("utf-8", "replace"), index.manifest.model["name"]
    with connection:  # sqlite-utils would take eight times as long to write the rows.
        _insert(connection, "indexes", [(root, index.manifest.created, model)])
        for done in _write_files(connection, index, without_code):
            on_progress("documents", done, index.manifest.documents)
    on_progress("full-text search", 0, 0)
    _make_look_ups(database)


def _make_tables(database: Database) -> None:
    for name, columns in _TABLES.items():
        keys = [("file_id", "files", "id")] if "file_id" in columns else []
        # Only code has no value in some rows.
        filled = columns.keys() - {"code"}
        database.create_table(
            name, columns, pk="id" if "id" in columns else None, not_null=filled, foreign_keys=keys
        )
    for name, query in _VIEWS.items():
        database.create_view(name, query)


def _make_look_ups(database: Database) -> None:
    rank = f"bm25({', '.join(map(str, _SEARCHED.values()))})"
    database.table("files").create_index(["path"], unique=True)
    for name in ("definitions", "members"):
        table = database.table(name)
        table.create_index(["file_id"])
        table.create_index(["name"])
        table.enable_fts(list(_SEARCHED), tokenize="porter")
        database.execute(f"INSERT INTO {name}_fts ({name}_fts, rank) VALUES ('rank', ?)", [rank])
    database.conn.commit()


def _write_files(
    connection: sqlite3.Connection, index: IndexReader, without_code: Counter[str]
) -> Iterator[int]:
    """Write all live files with what is in them; yield the number of definitions so far."""
    live = [
        (file.record.path, file.file_id, segment, file.record)
        for segment, entry in zip(index.segments, index.manifest.segments, strict=True)
        for file in live_files(entry, segment.store)
    ]
    ids = Counter[str]()
    for number, (path, file_id, segment, record) in enumerate(
        sorted(live, key=lambda file: file[0]), start=1
    ):
        source, state = _source(segment, record)
        without_code.update([state])
        described = path, record.language, record.size, record.digest.hex(), state
        _insert(connection, "files", [(number, *described, record.skipped, record.warnings, record.summary)])
        rows = {"definitions": segment.store.document_rows(record), "members": segment.store.members(file_id)}
        for table, stored in rows.items():
            before = number, path, record.language
            found = [_row(row, before, source) for row in stored]
            _insert(connection, table, [(ids[table] + at, *row) for at, row in enumerate(found, start=1)])
            ids[table] += len(found)
        yield ids["definitions"]


def _source(segment: SegmentReader, record: FileRecord) -> tuple[bytes | None, str]:
    """Return the content of a file, or None if it is not the indexed one; and how it compares."""
    source, is_changed = read_source(segment, record) or (b"", False)
    if record.size and not source:
        return None, "missing"
    return (None, "changed") if is_changed else (source, "unchanged")


def _row(row: DocumentRow, before: _Row, source: bytes | None) -> _Row:
    code = None if source is None else cut_lines(source, row, by_line=False).decode("utf-8", "replace")
    flags = (bool(row.flags & flag) for flag in _FLAGS.values())
    stored = (getattr(row, name) for name in _STORED)
    return (*before, *stored, " ".join(subtokens(row.qualified_name)), code, *flags)


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[_Row]) -> None:
    places = ",".join("?" * len(_TABLES[table]))
    connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
