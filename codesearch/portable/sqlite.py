"""Indexes -> one SQLite file for `sqlite-utils`, Datasette and every other program that reads SQL.

    roots       indexed folders
    files       source files; root_id -> roots
    documents   documents; file_id -> files
    documents_fts                                               full-text search of the documents, FTS5
    documents_with_files, counts_by_language, counts_by_kind    views

Ids count from 1, by root, then path, then place in the file. They do not depend on the segments of an index. One source
file is in memory at a time.

`PRAGMA application_id` marks the file as an export of codesearch. `PRAGMA user_version` is the version of the layout.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from codesearch.build.plan import live_files
from codesearch.errors import ExportError, MissingExtraError
from codesearch.files import atomic_writer
from codesearch.parsing.identifiers import subtokens
from codesearch.portable.pack import ExportCounts, OnStage, check_target
from codesearch.store.database import DATABASE, FileRecord
from codesearch.store.digest import check_digest
from codesearch.store.reader import IndexReader, SegmentReader
from codesearch.store.snapshot import inner_folders
from codesearch.store.source import cut_lines, read_source
from codesearch.types import GENERATED, STUB, TEST, VENDORED

LAYOUT_VERSION = 1
APPLICATION_ID = int.from_bytes(b"cdsr")
_MARKS = {0: b"SQLite format 3\0", 68: b"cdsr"}
"""What an export has at these bytes: the magic of SQLite and the application id, big-endian."""

_FLAGS = {"is_test": TEST, "is_generated": GENERATED, "is_vendored": VENDORED, "is_stub": STUB}
_ROOTS = {"id": int, "path": str, "indexed_at": str, "model": str}
_FILES = {
    **dict.fromkeys(("id", "root_id"), int),
    **dict.fromkeys(("path", "language"), str),
    "bytes": int,
    **dict.fromkeys(("digest", "state", "skipped", "warnings"), str),
}
_DOCUMENTS = {
    **dict.fromkeys(("id", "file_id"), int),
    **dict.fromkeys(("path", "language", "kind", "name", "qualified_name", "name_words"), str),
    **dict.fromkeys(("signature", "docstring", "code"), str),
    **dict.fromkeys(("start_line", "end_line", "last_line", "start_byte", "end_byte"), int),
    **dict.fromkeys(_FLAGS, bool),
}
_SEARCHED = {"name": 10, "name_words": 5, "signature": 2, "docstring": 2, "code": 1, "path": 1}
"""Columns of the full-text search, and the weight of each in the rank."""
_VIEWS = {
    "documents_with_files": """
SELECT documents.id, roots.path AS root, documents.path, rtrim(roots.path, '/') || '/' || documents.path AS file,
    files.state, documents.language, kind, name, qualified_name, signature, docstring, code, start_line, end_line,
    last_line, is_test, is_generated, is_vendored, is_stub
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

_UNCHANGED, _CHANGED, _MISSING = "unchanged", "changed", "missing"
"""How a file compares with what was indexed; a "missing" file is gone or cannot be read."""
_Row = dict[str, object]
_File = tuple[int, SegmentReader, FileRecord]
"""The id of a root, a segment of its index and a file in it."""


def check_sqlite_target(path: Path, *, force: bool) -> None:
    """Check that `sqlite-utils` is installed and that a file may be written, as `check_target` does."""
    try:
        import sqlite_utils  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtraError("sqlite-utils") from None
    real = os.path.realpath(path)
    for journal in (f"{real}-wal", f"{real}-journal"):
        if os.path.exists(journal):  # SQLite would apply it to the new file.
            raise ExportError(
                f"{path} is in use: {journal} exists", "close the programs that use it, or name another file"
            )
    check_target(path, "an export of codesearch", _MARKS, force=force)


def write_sqlite(indexes: Sequence[IndexReader], path: Path, on_progress: OnStage) -> ExportCounts:
    """Write indexes to a new file, which replaces `path` at the end."""
    for index in indexes:
        for segment, entry in zip(index.segments, index.manifest.segments, strict=True):
            # A writer may have merged and deleted the segment. Open files can still be read.
            with suppress(FileNotFoundError):
                check_digest(segment.folder / DATABASE, entry.files[DATABASE], segment.root)
    try:
        with atomic_writer(Path(os.path.realpath(path)), sync=True) as part:
            with closing(sqlite3.connect(part.name)) as connection:
                return _write(connection, indexes, on_progress)
    except (OSError, sqlite3.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ExportError(f"{path} cannot be written: {reason}") from error


def _write(
    connection: sqlite3.Connection, indexes: Sequence[IndexReader], on_progress: OnStage
) -> ExportCounts:
    from sqlite_utils import Database

    # The file is deleted if its writer fails, so no journal is needed.
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {LAYOUT_VERSION}")
    database = Database(connection, execute_plugins=False)
    for name, columns, keys in (
        ("roots", _ROOTS, []),
        ("files", _FILES, [("root_id", "roots", "id")]),
        ("documents", _DOCUMENTS, [("file_id", "files", "id")]),
    ):
        # Every column but the code has a value in each row.
        database.create_table(name, columns, pk="id", not_null=columns.keys() - {"code"}, foreign_keys=keys)
    for name, query in _VIEWS.items():
        database.create_view(name, query)
    files = list(_exported_files(indexes))
    total = sum(record.doc_count for _, _, record in files)
    database.table("roots").insert_all(
        {
            "id": root_id,
            "path": os.fsencode(index.manifest.root).decode("utf-8", "replace"),
            "indexed_at": index.manifest.created,
            "model": index.manifest.model["name"],
        }
        for root_id, index in enumerate(indexes, start=1)
    )
    file_rows: list[_Row] = []
    documents = _document_rows(files, file_rows, lambda done: on_progress("documents", done, total))
    database.table("documents").insert_all(documents)
    database.table("files").insert_all(file_rows)
    on_progress("full-text search", 0, 0)
    database.table("files").create_index(["root_id", "path"], unique=True)
    database.table("documents").create_index(["file_id"])
    database.table("documents").create_index(["name"])
    database.table("documents").enable_fts(_SEARCHED, tokenize="porter")
    rank = f"bm25({', '.join(map(str, _SEARCHED.values()))})"
    database.execute("INSERT INTO documents_fts (documents_fts, rank) VALUES ('rank', ?)", [rank])
    states = [row["state"] for row in file_rows]
    return total, len(files), states.count(_CHANGED), states.count(_MISSING)


def _exported_files(indexes: Sequence[IndexReader]) -> Iterator[_File]:
    """Yield the live files in the order of their ids; files that two roots share belong to the inner root."""
    inner = inner_folders([index.root for index in indexes])
    for root_id, index in enumerate(indexes, start=1):
        files = [
            (root_id, segment, live.record)
            for segment, entry in zip(index.segments, index.manifest.segments, strict=True)
            for live in live_files(entry.number, entry.dead_files, segment.store)
            if not live.record.path.startswith(inner[segment.root])
        ]
        yield from sorted(files, key=lambda file: file[2].path)


def _document_rows(
    files: Sequence[_File], file_rows: list[_Row], on_documents: Callable[[int], None]
) -> Iterator[_Row]:
    """Yield a row for each document, with its code if the file has not changed; collect the rows of the files."""
    doc_id = 0
    for file_id, (root_id, segment, record) in enumerate(files, start=1):
        found = read_source(segment, record)
        source, changed = found or (b"", False)
        is_missing = found is None or (not source and record.size)
        state = _MISSING if is_missing else _CHANGED if changed else _UNCHANGED
        of_file = (record.path, record.language, record.size, record.digest.hex(), state)
        values = (file_id, root_id, *of_file, record.skipped, record.warnings)
        file_rows.append(dict(zip(_FILES, values, strict=True)))
        for row in segment.store.document_rows(record.first_doc, record.doc_count):
            doc_id += 1
            code = None
            if state == _UNCHANGED:
                lines = cut_lines(source, row.start_line, row.end_line, start_byte=row.start_byte)
                code = lines.decode("utf-8", "replace")
            of_document = {
                "id": doc_id,
                "file_id": file_id,
                "path": record.path,
                "language": record.language,
                **row._asdict(),
                "name_words": " ".join(subtokens(row.qualified_name)),
                "code": code,
                **{name: bool(row.flags & flag) for name, flag in _FLAGS.items()},
            }
            yield {name: of_document[name] for name in _DOCUMENTS}
        on_documents(doc_id)
